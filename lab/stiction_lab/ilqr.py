"""Iterative LQR with Gauss-Newton costs: a plan is improved by the derivatives of the steps along it.

A problem has
    steps, nu, effort          number of steps, of controls; the cost of a control is ½ effort |u|²
    start()                    the first state x
    step(x, u)                 the next state
    jacobian(x, u)             (A, B), its derivatives in the tangent space of x
    difference(x, y)           x ⊖ y in that tangent space
    residual(x, last)          (r, dr/dx); the cost of a state is ½ |r|²
"""

import numpy as np


def cost(problem, states, controls):
    total = 0.5 * problem.effort * np.sum(controls**2)
    for t, x in enumerate(states):
        r, _ = problem.residual(x, t == problem.steps)
        total += 0.5 * r @ r
    return total


def rollout(problem, controls, nominal=None, gains=None, share=0.0):
    """States and controls of u = controls + share k + K (x ⊖ nominal)."""
    states, used = [problem.start()], []
    for t, u in enumerate(controls):
        if gains is not None:
            k, K = gains[t]
            u = u + share * k + K @ problem.difference(states[t], nominal[t])
        states.append(problem.step(states[t], u))
        used.append(u)
    return states, np.array(used)


def gradient(problem, controls):
    """Derivative of the cost of the last state to every control (steps, nu), by the adjoint recursion."""
    states, _ = rollout(problem, controls)
    r, slope = problem.residual(states[-1], True)
    costate, rows = slope.T @ r, []
    for x, u in zip(states[-2::-1], controls[::-1]):
        A, B = problem.jacobian(x, u)
        rows.append(B.T @ costate)
        costate = A.T @ costate
    return np.array(rows[::-1])


def backward(problem, states, controls, pairs, damping):
    """Gains (k, K) of every step and the decrease of the cost that they promise."""
    r, slope = problem.residual(states[-1], True)
    V_x, V_xx = slope.T @ r, slope.T @ slope
    gains, promised = [], 0.0
    for t in reversed(range(problem.steps)):
        A, B = pairs[t]
        r, slope = problem.residual(states[t], False)
        Q_x = slope.T @ r + A.T @ V_x
        Q_u = problem.effort * controls[t] + B.T @ V_x
        Q_xx = slope.T @ slope + A.T @ V_xx @ A
        Q_ux = B.T @ V_xx @ A
        Q_uu = problem.effort * np.eye(problem.nu) + B.T @ V_xx @ B
        damped = Q_uu + damping * np.eye(problem.nu)  # positive: V_xx is, and effort > 0
        k, K = -np.linalg.solve(damped, Q_u), -np.linalg.solve(damped, Q_ux)
        gains.append((k, K))
        promised -= Q_u @ k + 0.5 * k @ Q_uu @ k
        V_x = Q_x + K.T @ Q_uu @ k + K.T @ Q_u + Q_ux.T @ k
        V_xx = Q_xx + K.T @ Q_uu @ K + K.T @ Q_ux + Q_ux.T @ K
        V_xx = 0.5 * (V_xx + V_xx.T)
    return gains[::-1], promised


def ilqr(problem, iterations):
    """Controls, states, and the cost at first and after every improvement. Begins with zero controls; ends when
    an improvement is below 1e-5 of the cost, or none is found."""
    controls = np.zeros((problem.steps, problem.nu))
    states, controls = rollout(problem, controls)
    costs, damping, pairs = [cost(problem, states, controls)], 1e-6, None
    for _ in range(iterations):
        if pairs is None:
            pairs = [problem.jacobian(x, u) for x, u in zip(states, controls)]
        gains, promised = backward(problem, states, controls, pairs, damping)
        for share in 0.5 ** np.arange(10):
            tried, used = rollout(problem, controls, states, gains, share)
            now = cost(problem, tried, used)
            if now < costs[-1] - 1e-4 * share * promised:
                break
        else:
            damping *= 10
            if damping > 1e3:
                break
            continue
        states, controls, damping, pairs = tried, used, max(damping / 5, 1e-9), None
        costs.append(now)
        if costs[-2] - now < 1e-5 * costs[-2]:
            break
    return controls, states, costs
