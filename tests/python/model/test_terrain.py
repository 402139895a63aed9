"""stiction.terrain against legged_gym's definitions, in NumPy."""

import mujoco
import numpy as np
import pytest

import stiction

UNIT = 0.005


def patch_of(terrain, level, column, border=0.0, cell=0.1):
    """Nodes of a patch, (y, x), both borders included."""
    n, b = round(terrain.patch / cell), round(border / cell)
    return terrain.elevation[b + column * n : b + (column + 1) * n + 1, b + level * n : b + (level + 1) * n + 1]


def test_layout_of_legged_gym():
    t = stiction.terrain("legged_gym")
    assert t.elevation.shape == (20 * 80 + 500 + 1, 10 * 80 + 500 + 1)
    assert tuple(t.size) == pytest.approx((65, 105))
    assert t.kinds == ["slope"] * 4 + ["stairs"] * 12 + ["obstacles"] * 4
    middles = np.array([patch_of(t, 9, c, 25)[40, 40] for c in range(20)])
    assert (np.sign(middles) == [-1] + [1] * 3 + [-1] * 7 + [1] * 5 + [0] * 4).all()
    assert t.elevation.min() == t.lowest and t.elevation.max() == pytest.approx(t.lowest + t.height)
    multiples = t.elevation / UNIT
    assert np.abs(multiples - np.round(multiples)).max() < 1e-6
    inside = np.zeros(t.elevation.shape, bool)
    inside[250:-251, 250:-251] = True
    assert not t.elevation[~inside].any()


def rings(height, n=80, tread=3, platform=30):
    """legged_gym's loop."""
    z, a, b, now = np.zeros((n + 1, n + 1)), 0, n, 0.0
    while b - a > platform:
        a, b, now = a + tread, b - tread, now + height
        z[a : b + 1, a : b + 1] = now
    return z


@pytest.mark.parametrize("level", [0, 3, 9])
def test_stairs(level):
    t = stiction.terrain("legged_gym", border=0)
    step = 0.05 + 0.18 * level / 10
    for column, sign in ((5, -1), (12, 1)):
        expected = np.trunc(rings(sign * step) / UNIT + sign * 1e-9) * UNIT
        np.testing.assert_allclose(patch_of(t, level, column), expected, atol=1e-9)
    assert t.origins[level, 12, 2] == pytest.approx(patch_of(t, level, 12).max())


def test_slopes():
    t = stiction.terrain("legged_gym", border=0)
    u = 1 - np.abs(np.linspace(-1, 1, 81))
    for level in (1, 5, 9):
        slope = 0.4 * level / 10
        z = slope * 4 * np.outer(u, u)
        z = np.minimum(z, z[25, 25])
        for column, sign in ((0, -1), (1, 1)):
            found = patch_of(t, level, column)[:-1, :-1]  # the last nodes are the next patch's
            np.testing.assert_allclose(found, sign * z[:-1, :-1], atol=UNIT)
        rough = patch_of(t, level, 2)[:-1, :-1] - z[:-1, :-1]
        assert np.abs(rough).max() <= 0.05 + UNIT and rough.std() > 0.015
        assert np.abs(rough).max() > 0.04


def test_obstacles():
    t = stiction.terrain("legged_gym", border=0)
    for level in (0, 9):
        h = 0.05 + 0.2 * level / 10
        z = patch_of(t, level, 17)[:-1, :-1]
        assert not z[25:56, 25:56].any()
        heights = np.unique(np.round(z, 6))
        allowed = np.trunc(np.array([-h, -h / 2, 0, h / 2, h]) / UNIT + np.array([-1, -1, 0, 1, 1]) * 1e-9) * UNIT
        assert set(heights) <= set(np.round(allowed, 6)) and len(heights) >= 4


def test_stones_and_waves():
    patches = [stiction.TerrainPatch("stepping_stones", height=(1, 1), width=(1.5, 0.2), platform=2),
               stiction.TerrainPatch("waves", height=(0, 0.2)), stiction.TerrainPatch("flat")]
    t = stiction.terrain(patches, levels=4, columns=3, border=1)
    assert t.kinds == ["stepping_stones", "waves", "flat"]
    z = patch_of(t, 0, 0, border=1)[:-1, :-1]
    expected = np.zeros((80, 80))
    expected[15::16], expected[:, 15::16] = -1, -1
    expected[30:51, 30:51] = 0
    np.testing.assert_array_equal(z, expected)
    assert (patch_of(t, 3, 0, border=1) < 0).mean() > (z < 0).mean()
    a = 0.2 * 3 / 4
    x = np.linspace(0, 8 * np.pi, 81)[:-1]
    waves = a / 2 * (np.cos(x)[:, None] + np.sin(x))
    np.testing.assert_allclose(patch_of(t, 3, 1, border=1)[:-1, :-1], waves, atol=UNIT)
    assert not patch_of(t, 3, 2, border=1)[:-1, :-1].any()


def test_same_seed_same_ground():
    a, b, c = (stiction.terrain(seed=s, border=0).elevation for s in (1, 1, 2))
    assert np.array_equal(a, b) and not np.array_equal(a, c)


@pytest.mark.parametrize("patches", ["legged_gym", "mjlab"])
def test_models_have_it(patches):
    t = stiction.terrain(patches, levels=3, columns=7, border=2)
    text = f"""<mujoco><asset>{t.hfield_element("ground", "ground.bin")}</asset><worldbody>
      <geom type="hfield" hfield="ground" pos="0 0 {t.lowest}"/></worldbody></mujoco>"""
    assets = {"ground.bin": t.hfield_file()}
    m = stiction.Model.from_xml(text, assets=assets, strict=True)
    z = t.lowest + m.hfield_size[0, 2] * m.hfield_data.reshape(m.hfield_nrow[0], m.hfield_ncol[0])
    np.testing.assert_allclose(z, t.elevation, atol=1e-6)
    theirs = mujoco.MjModel.from_xml_string(text, assets)
    np.testing.assert_allclose(theirs.hfield_data.reshape(z.shape) * theirs.hfield_size[0, 2] + t.lowest,
                               t.elevation, atol=1e-6)
    nx = (t.elevation.shape[1] - 1) * 0.1 / 2
    assert theirs.hfield_size[0, 0] == pytest.approx(nx) == pytest.approx(t.size[0])
    for origin in t.origins.reshape(-1, 3):
        down = mujoco.MjData(theirs)
        mujoco.mj_forward(theirs, down)
        geom = np.zeros(1, np.int32)
        hit = mujoco.mj_ray(theirs, down, origin + [0, 0, 5], np.array([0, 0, -1.0]), None, 1, -1, geom)
        assert -1e-5 <= hit - 5 <= 1  # the origin is at the highest point around


@pytest.mark.parametrize("arguments, what", [
    ({"levels": 0}, "levels = 0"),
    ({"patch": 0.25}, "patch = 0.25"),
    ({"border": -1}, "border = -1"),
    ({"cell": float("nan")}, "cell = nan"),
    ({"cell": 0.001}, "larger cells"),
    ({"patches": []}, "patches"),
    ({"patches": "isaac"}, "isaac"),
    ({"patches": [stiction.TerrainPatch("flat", share=0)]}, "shares"),
    ({"patches": [stiction.TerrainPatch("stairs", width=(-1, 0))]}, "width"),
    ({"patches": [stiction.TerrainPatch("slope", platform=9)]}, "platform"),
    ({"patches": [stiction.TerrainPatch("rough", noise=(0, float("inf")))]}, "noise"),
])  # fmt: skip
def test_bad_arguments(arguments, what):
    with pytest.raises(stiction.ArgumentError, match=what):
        stiction.terrain(**arguments)


def test_an_unknown_kind():
    with pytest.raises(stiction.ArgumentError, match="'stairs'"):
        stiction.TerrainPatch("stair")
