"""Small networks with hand-written gradients: what PPO needs, on flat parameter vectors."""

import numpy as np


class Mlp:
    """tanh layers and a linear one; weights and biases are views of the vector `parameters`."""

    def __init__(self, sizes, rng, last_gain, dtype=np.float32):
        self.sizes = tuple(int(n) for n in sizes)
        shapes = list(zip(self.sizes[:-1], self.sizes[1:]))
        self.parameters = np.zeros(sum((i + 1) * o for i, o in shapes), dtype)
        self.layers = self._views(self.parameters)
        for k, (weight, _) in enumerate(self.layers):
            gain = last_gain if k == len(shapes) - 1 else np.sqrt(2)
            tall = rng.standard_normal((max(weight.shape), min(weight.shape)))
            q = np.linalg.qr(tall)[0]  # orthogonal columns
            weight[:] = gain * (q if q.shape == weight.shape else q.T)

    def _views(self, flat):
        views, at = [], 0
        for i, o in zip(self.sizes[:-1], self.sizes[1:]):
            views.append((flat[at : at + i * o].reshape(i, o), flat[at + i * o : at + (i + 1) * o]))
            at += (i + 1) * o
        return views

    def forward(self, x):
        """(outputs, activations of every layer's input for `backward`)"""
        inputs = [x]
        for k, (weight, bias) in enumerate(self.layers):
            x = x @ weight
            x += bias
            if k < len(self.layers) - 1:
                np.tanh(x, out=x)
                inputs.append(x)
        return x, inputs

    def __call__(self, x):
        return self.forward(x)[0]

    def backward(self, inputs, slope):
        """Gradient with respect to `parameters`, given the loss's with respect to the outputs."""
        gradient = np.empty_like(self.parameters)
        for k, (weight, bias) in reversed(list(enumerate(self._views(gradient)))):
            np.matmul(inputs[k].T, slope, out=weight)
            slope.sum(axis=0, out=bias)
            if k:
                slope = slope @ self.layers[k][0].T
                slope *= 1 - np.square(inputs[k])  # tanh' = 1 - tanh²
        return gradient


class Adam:
    """Kingma & Ba 2014; the gradient's norm is clipped first. Moves a parameter vector in place."""

    def __init__(self, size, dtype=np.float32, max_norm=1.0):
        self.moments = np.zeros((2, size), dtype)
        self.count, self.max_norm = 0, max_norm

    def step(self, parameters, gradient, rate):
        norm = float(np.sqrt(gradient @ gradient))
        if norm > self.max_norm:
            gradient = gradient * (self.max_norm / norm)
        self.count += 1
        m, v = self.moments
        m += 0.1 * (gradient - m)
        v += 0.001 * (np.square(gradient) - v)
        m_hat, v_hat = m / (1 - 0.9**self.count), v / (1 - 0.999**self.count)
        parameters -= rate * m_hat / (np.sqrt(v_hat) + 1e-8)


class RunningMoments:
    """Mean and variance of everything seen, one per column (Chan, Golub, LeVeque 1983)."""

    def __init__(self, size):
        self.mean, self.var, self.count = np.zeros(size), np.ones(size), 0.0

    def update(self, rows):
        rows = np.asarray(rows, float).reshape(-1, self.mean.size)
        n, mean, var = len(rows), rows.mean(axis=0), rows.var(axis=0)
        total, delta = self.count + n, mean - self.mean
        if self.count:
            var = (self.count * self.var + n * var) / total
            var += np.square(delta) * self.count * n / total**2
        self.mean = self.mean + delta * n / total
        self.var, self.count = var, total
