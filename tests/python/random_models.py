"""Random models with what acts along strings, motors and couplings: trees of all joints, tendons that wrap and go over
pulleys, actuators with states on every transmission, equalities of every kind, bodies in a medium."""

import itertools

import numpy as np

SCALAR = ("hinge", "slide")


def text(numbers):
    return " ".join(f"{x:.6g}" for x in np.ravel(numbers))


class RandomModel:
    """`xml`, a model that depends on the seed alone. Nothing touches."""

    def __init__(self, seed, bodies=9):
        self.rng = np.random.default_rng(seed)
        self.bodies, self.sites, self.wraps, self.joints = [], [], [], []
        tree = self.tree(bodies)
        parts = (self.tendons(), self.actuators(), self.equalities())
        option = (f'<option density="{self.rng.uniform(100, 1200):.6g}" viscosity="{self.rng.uniform(0.01, 1):.6g}" '
                  f'wind="{text(self.rng.normal(size=3))}" gravity="{text(self.rng.normal(size=3) - [0, 0, 9])}"/>')
        self.xml = (f'<mujoco>{option}<default><geom contype="0" conaffinity="0"/></default>'
                    f'<worldbody>{tree}</worldbody>{"".join(parts)}</mujoco>')

    def pick(self, things, count=None):
        """One of a list, or a list of some of its things, each at most once."""
        order = self.rng.permutation(len(things))
        return things[order[0]] if count is None else [things[i] for i in order[:count]]

    def vector(self, size=0.2):
        return text(size * self.rng.normal(size=3))

    def quat(self):
        return text(self.rng.normal(size=4))

    # ---- bodies

    def tree(self, count):
        """A body has a body before it, or the world, as its parent; the third is a mocap body."""
        children = {i: [] for i in range(-1, count)}
        for i in range(count):
            children[-1 if i in (0, 2) else int(self.pick([-1, *(k for k in range(i) if k != 2)]))].append(i)

        def element(i):
            name = f"b{i}"
            self.bodies.append(name)
            root = i in children[-1]
            inside = self.fixtures(name) + "".join(map(element, children[i]))
            if i == 2:
                return f'<body name="{name}" mocap="true" pos="{self.vector()}" quat="{self.quat()}">{inside}</body>'
            joints = self.body_joints(name, ("free",) if i == 0 else ("free", *SCALAR) if root else ("ball", *SCALAR))
            return f'<body name="{name}" pos="{self.vector(0.4)}" quat="{self.quat()}">{joints}{inside}</body>'

        return self.fixtures("world") + "".join(element(i) for i in children[-1])

    def body_joints(self, body, kinds):
        kind = self.pick(kinds) if len(self.joints) % 4 else kinds[-1]  # scalar joints in every model
        if kind == "free":
            self.joints.append((f"{body}f", kind))
            return f'<freejoint name="{body}f"/>'
        joints = [kind] if kind == "ball" or self.rng.random() < 0.6 else [kind, self.pick(SCALAR)]
        result = ""
        for k, kind in enumerate(joints):
            self.joints.append((f"{body}j{k}", kind))
            turned = "" if kind == "ball" else f' axis="{self.vector()}" ref="{text(self.rng.uniform(-0.5, 0.5))}"'
            result += f'<joint name="{body}j{k}" type="{kind}" pos="{self.vector(0.05)}"{turned}/>'
        return result

    def fixtures(self, body):
        """Two sites; a geom with mass, perhaps with an ellipsoid's drag; a sphere or cylinder to wrap around."""
        result = ""
        for k in range(2):
            self.sites.append(f"{body}s{k}")
            result += f'<site name="{body}s{k}" pos="{self.vector(0.3)}" quat="{self.quat()}"/>'
        kind = self.pick(("sphere", "capsule", "ellipsoid", "cylinder", "box"))
        # of two spheres two moments are equal: how the box with the body's inertia lies would be open
        drag = ' fluidshape="ellipsoid"' if kind == "sphere" or self.rng.random() < 0.5 else ""
        result += (f'<geom type="{kind}" size="{text(self.rng.uniform(0.03, 0.15, 3))}" pos="{self.vector(0.1)}" '
                   f'quat="{self.quat()}"{drag}/>')
        kind, radius = self.pick(("sphere", "cylinder")), self.rng.uniform(0.05, 0.2)
        place, quat = self.rng.normal(size=3) * 0.2, self.rng.normal(size=4)
        # the site that says on which side lies outside: inside MuJoCo's own digits end at 1e-7 (test_tendons.py)
        away = self.rng.normal(size=3)
        away *= 1.5 * radius / np.linalg.norm(np.cross(away, axis_of(quat)))
        self.wraps.append((f"{body}w", f"{body}o"))
        return result + (f'<geom name="{body}w" type="{kind}" size="{radius:.6g} 0.3" pos="{text(place)}" '
                         f'quat="{text(quat)}" mass="0.1"/><site name="{body}o" pos="{text(place + away)}"/>')

    def scalars(self):
        return [name for name, kind in self.joints if kind in SCALAR]

    # ---- tendons

    def tendons(self):
        self.strings = [f"t{i}" for i in range(6)]
        return f'<tendon>{"".join(self.fixed(t) for t in self.strings[:2])}' \
               f'{"".join(self.spatial(t) for t in self.strings[2:])}</tendon>'

    def fixed(self, name):
        joints = self.pick(self.scalars(), 3)
        return f'<fixed name="{name}">' + "".join(
            f'<joint joint="{j}" coef="{text(self.rng.normal())}"/>' for j in joints) + "</fixed>"

    def spatial(self, name):
        """Two parts with a pulley before the second, each over two to four sites and around geoms between them."""
        path, sites = "", self.pick(self.sites, 8)
        for part in range(2):
            count = int(self.rng.integers(2, 5))
            here, sites = sites[:count], sites[count:]
            path += f'<pulley divisor="{text(self.rng.uniform(0.5, 3))}"/>' if part else ""
            path += f'<site site="{here[0]}"/>'
            for site in here[1:]:
                geom, side = self.pick(self.wraps)
                side = f' sidesite="{side}"' if self.rng.random() < 0.5 else ""
                path += f'<geom geom="{geom}"{side}/>' if self.rng.random() < 0.6 else ""
                path += f'<site site="{site}"/>'
        return f'<spatial name="{name}">{path}</spatial>'

    # ---- actuators

    def actuators(self):
        """Every dynamics on every transmission in turn, an affine law on it, and a muscle."""
        free_or_ball = [name for name, kind in self.joints if kind not in SCALAR]
        dynamics = itertools.cycle(("none", "integrator", "filter", "filterexact", "muscle"))
        result = ""
        for k in range(16):
            s, r = self.pick(self.sites, 2)
            where = (
                f'joint="{self.pick(self.scalars())}"', f'tendon="{self.pick(self.strings)}"', f'site="{s}"',
                f'site="{s}" refsite="{r}"', f'jointinparent="{self.pick(free_or_ball)}"',
                f'cranksite="{s}" slidersite="{r}" cranklength="{text(self.rng.uniform(0.2, 1.5))}"',
                f'joint="{self.pick(free_or_ball)}"', f'tendon="{self.pick(self.strings)}"',
            )[k % 8]
            kind = next(dynamics)
            law = (f'gaintype="affine" gainprm="{self.vector(2)}" biastype="affine" biasprm="{self.vector(2)}" '
                   f'gear="{self.vector(1)} {self.vector(1)}" ctrlrange="-1 1"')
            if kind != "none":
                law += (f' dyntype="{kind}" dynprm="{text(self.rng.uniform(0.02, 0.5, 3))}" actrange="-0.8 0.9" '
                        f'actearly="{"true" if k % 3 == 0 else "false"}"')
            result += f"<general {where} {law}/>"
        where = f'tendon="{self.pick(self.strings)}" lengthrange="0.2 2"'
        return f'<actuator>{result}<muscle {where} force="{text(self.rng.uniform(10, 100))}"/></actuator>'

    # ---- equalities

    def equalities(self):
        """Of bodies, with the world and the mocap body, of sites, joints and tendons."""
        a, b, c, d = self.pick([x for x in self.bodies if x != "b2"], 4)
        s = [self.pick(self.sites, 2) for _ in range(2)]
        j, t = self.pick(self.scalars(), 3), self.pick(self.strings, 3)
        poly = lambda: text(0.5 * self.rng.normal(size=5))
        scale = lambda: f'torquescale="{text(self.rng.uniform(0.3, 2))}"'
        return f"""<equality>
          <connect body1="{a}" body2="{b}" anchor="{self.vector()}"/>
          <weld body1="{b}" body2="{c}" relpose="{self.vector()} {self.quat()}" anchor="{self.vector()}" {scale()}/>
          <joint joint1="{j[0]}" joint2="{j[1]}" polycoef="{poly()}"/>
          <connect body1="{c}" anchor="{self.vector()}"/><connect site1="{s[0][0]}" site2="{s[0][1]}"/>
          <tendon tendon1="{t[0]}" tendon2="{t[1]}" polycoef="{poly()}"/>
          <weld body1="b2" body2="{d}" {scale()}/><weld site1="{s[1][0]}" site2="{s[1][1]}" {scale()}/>
          <joint joint1="{j[2]}" polycoef="{poly()}"/><tendon tendon1="{t[2]}"/>
          <connect body1="{d}" body2="{b}" anchor="{self.vector()}" active="false"/></equality>"""


def axis_of(quat):
    """The third column of the matrix of a quaternion."""
    w, x, y, z = quat / np.linalg.norm(quat)
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
