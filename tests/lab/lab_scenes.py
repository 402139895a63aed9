"""Contact problems that the oracle tests share: a cube on a plane, stacks, random ones."""

import numpy as np

import stiction_lab as lab
from stiction_lab.scenes import box, cube_xml, world

GRAVITY, DT, MU = 9.81, 1e-3, 0.4


def cube(velocity=(0, 0, 0), force=(0, 0, 0), *, timestep=DT, stiffness=1e7, friction=MU):
    """The cube of paper 002 touching the ground (1 kg, 0.2 m, four corners): its problem of a step."""
    scene = lab.Scene(cube_xml(), timestep, material=(stiffness, 0.0, friction, 0.0))
    wrench = np.zeros(12)
    wrench[6:9] = force
    return scene.problem(scene.qpos0, np.array([*velocity, 0, 0, 0], float), xfrc_applied=wrench)


def stack(lower, upper):
    """Two cubes of 0.2 m with the masses `lower` and `upper`, at rest and touching."""
    scene = lab.Scene(world(box(lower, 0.1), box(upper, 0.3)), DT, material=(1e7, 10.0, 0.9, 0.0))
    return scene.problem(scene.qpos0, np.zeros(12), reach=1e-3)


def random_problem(rng, contacts=4, bodies=3, compliance=0.0):
    """A random contact problem: every contact pushes random bodies, all of them close."""
    nv = 6 * bodies
    root = rng.normal(size=(nv, nv))
    A = root @ root.T / nv + np.eye(nv)
    J = rng.normal(size=(3 * contacts, nv))
    v_star = rng.normal(size=nv)
    # the free motion closes every contact
    for i in range(contacts):
        if (J[3 * i + 2] @ v_star) > 0:
            J[3 * i + 2] *= -1
    return lab.Problem(DT, A, v_star, J, rng.uniform(0.2, 0.9, contacts),
                       R=np.full(3 * contacts, compliance))
