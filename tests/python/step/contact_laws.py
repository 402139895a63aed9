"""Contact impulses of the three convex models, written from their equations and from nothing else.

Each returns the impulse on the second body at contact velocity v_c (of the second body against the
first, world axes) for a contact with unit normal n from the first into the second body.
"""

import numpy as np


def split(v_c, normal):
    v_n = float(v_c @ normal)
    return v_n, v_c - v_n * normal


def soft_norm(x, eps):
    """|x|_s = sqrt(|x|^2 + eps^2) - eps and its gradient."""
    root = np.sqrt(x @ x + eps * eps)
    return root - eps, x / root


def hunt_crossley(c, dt, v_n):
    """dt (f_e0 - dt k v)+ (1 - d v)+ with f_e0 = -k gap."""
    elastic = -c.stiffness * c.gap - dt * c.stiffness * v_n
    return dt * max(0.0, elastic) * max(0.0, 1 - c.dissipation * v_n)


def lagged(c, dt, v_c):
    """Friction mu n0 along the soft direction; n0 from the start of the step."""
    v_n, v_t = split(v_c, c.normal)
    _, direction = soft_norm(v_t, c.eps_s)
    return hunt_crossley(c, dt, v_n) * c.normal - c.friction * c.n0 * direction


def similar(c, dt, v_c):
    """Normal law at v_n - mu |v_t|_s; friction mu times the normal impulse."""
    v_n, v_t = split(v_c, c.normal)
    slip, direction = soft_norm(v_t, c.eps_s)
    impulse = hunt_crossley(c, dt, v_n - c.friction * slip)
    return impulse * (c.normal - c.friction * direction)


def sap(c, dt, v_c, relaxation_time, sigma, beta):
    """Projection of R^-1 (v_hat - v_c) on the friction cone in the norm of R."""
    v_n, v_t = split(v_c, c.normal)
    tau = dt + relaxation_time
    R_n = max(beta**2 / (4 * np.pi**2) * c.w, 1 / (dt * tau * c.stiffness))
    R_t = sigma * c.w
    y_n, y_t = (-c.gap / tau - v_n) / R_n, -v_t / R_t
    y_r, mu = float(np.linalg.norm(y_t)), c.friction
    if y_r <= mu * y_n:  # stiction
        return y_t + y_n * c.normal
    if y_n <= -mu * R_t / R_n * y_r:  # separation
        return np.zeros(3)
    gamma_n = (y_n + mu * R_t / R_n * y_r) / (1 + mu**2 * R_t / R_n)  # sliding
    return gamma_n * c.normal + (mu * gamma_n / y_r * y_t if y_r > 0 else 0)


def impulse(options, model, c, v_c):
    """Impulse of contact `c` of a step made with `options`."""
    if options.contact_model == "sap":
        tau = float(model.pair_relaxation_time[c.pair])
        return sap(c, options.timestep, v_c, tau, options.regularization, options.near_rigid)
    law = lagged if options.contact_model == "lagged" else similar
    return law(c, options.timestep, v_c)
