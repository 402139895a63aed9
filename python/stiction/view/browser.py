"""A view in a browser, by viser."""

import numpy as np

from .._util.text import say, visible
from .panel import SPEEDS, contact_arrows, extent, hold_command, robot_weight, task_arrows, velocity_command
from .rewards import add_step, trace_of
from .scenery import shapes

ROOT = "/robot"  # moves against the robot where the view follows it


class BrowserView:
    """A page of viser: bodies as frames, their geoms as meshes below them, and a panel of choices."""

    def __init__(self, motion, panel):
        import viser

        self.motion, self.panel = motion, panel
        self.trace, self.plot, self.plotted = trace_of(motion), None, None
        centre, radius = extent(motion)
        self.length = 2 * radius
        self.server = viser.ViserServer(host="127.0.0.1", verbose=False)
        scene, model = self.server.scene, motion.model
        scene.set_up_direction("+z")
        scene.configure_default_lights(cast_shadow=True)
        self.root = scene.add_frame(ROOT, show_axes=False)
        self.frames = [scene.add_frame(f"{ROOT}/body{b}", show_axes=False) for b in range(model.nbody)]
        self.labels = [
            scene.add_label(f"{ROOT}/body{b}/name", visible(name), visible=panel.names)
            for b, name in enumerate(model.body_names) if b and name
        ]  # fmt: skip
        for k, shape in enumerate(shapes(model)):
            self._add(f"{ROOT}/body{shape.body}/shape{k}", shape)
        self.server.initial_camera.look_at = centre * (0, 0, 1)
        self.server.initial_camera.position = centre * (0, 0, 1) + radius * np.array([3.0, -3.0, 1.2])
        self._add_panel(self.server.gui)
        say(f"open http://localhost:{self.server.get_port()} in a browser; Ctrl-C ends")

    def _add(self, name, shape):
        scene, pose = self.server.scene, {"position": shape.pos, "wxyz": shape.quat}
        if shape.kind == "plane":
            scene.add_grid(
                name, plane="xy", infinite_grid=True, fade_distance=30.0, plane_opacity=1.0,
                plane_color=(200, 206, 214), cell_color=(176, 184, 194), section_color=(150, 160, 172),
                shadow_opacity=0.35, **pose,
            )  # fmt: skip
            return
        colour = tuple(int(round(255 * c)) for c in shape.rgba[:3])
        vertices, faces = shape.mesh()
        opacity = float(shape.rgba[3]) if shape.rgba[3] < 1 else None
        scene.add_mesh_simple(name, vertices, faces, color=colour, opacity=opacity, **pose)

    def _add_panel(self, gui):
        panel, batch = self.panel, self.motion.batch

        def bind(handle, name, kind):
            @handle.on_update
            def _(event):
                setattr(panel, name, kind(handle.value))

        bind(gui.add_checkbox("pause", panel.paused), "paused", bool)
        again = gui.add_button("begin anew")

        @again.on_click
        def _(event):
            panel.restart = True

        speeds = [f"{s:g}" for s in sorted({*SPEEDS, panel.speed})]
        bind(gui.add_dropdown("speed", speeds, initial_value=f"{panel.speed:g}"), "speed", float)
        if batch.num_envs > 1:
            bind(gui.add_slider("environment", 0, batch.num_envs - 1, 1, panel.env), "env", int)
        bind(gui.add_checkbox("follow", panel.follow), "follow", bool)
        bind(gui.add_checkbox("names of bodies", panel.names), "names", bool)
        bind(gui.add_checkbox("contact forces", panel.forces), "forces", bool)
        low, high = min(0.1, panel.force_scale), max(10.0, panel.force_scale)
        bind(gui.add_slider("length of forces", low, high, 0.05, panel.force_scale), "force_scale", float)
        self.legend, self.legend_says = gui.add_markdown(""), None
        bind(gui.add_checkbox("arrows of the task", panel.markers), "markers", bool)
        if self.trace is not None:
            bind(gui.add_checkbox("rewards", panel.rewards), "rewards", bool)
        if velocity_command(self.motion) is not None:
            self._add_commands(gui)

    def _add_commands(self, gui):
        """Sliders of a velocity in the place of what the task draws."""
        own = gui.add_checkbox("command by hand", False)
        sliders = [gui.add_slider(name, -most, most, 0.05, 0.0) for name, most in (
            ("forward, m/s", 2.0), ("left, m/s", 1.0), ("turn, rad/s", 2.0))]  # fmt: skip

        def take(event):
            was = self.panel.command
            self.panel.command = tuple(s.value for s in sliders) if own.value else None
            self.panel.restart |= was is not None and self.panel.command is None  # draws anew

        for handle in (own, *sliders):
            handle.on_update(take)

    def _show_markers(self):
        arrows = task_arrows(self.motion, self.panel.env) if self.panel.markers else []
        width = 0.006 * self.length
        ends = np.array([arrow[:2] for arrow in arrows]) if arrows else np.zeros((1, 2, 3))
        colours = np.array([[int(255 * c) for c in arrow[2]] for arrow in arrows] or [[0, 0, 0]], np.uint8)
        self.server.scene.add_arrows(
            f"{ROOT}/markers", ends, colours, shaft_radius=width, head_radius=2.2 * width, head_length=5 * width,
            visible=len(arrows) > 0,
        )  # fmt: skip

    def _plot(self):
        """The rewards of the last seconds below the choices, four times a second: a browser draws no faster beside the scene."""
        add_step(self.trace, self.motion, self.panel.env)
        if self.plot is not None and self.plot.visible != self.panel.rewards:
            self.plot.visible = self.panel.rewards
        time = self.motion.time if self.trace is not None else None
        if time is None or not self.panel.rewards or (self.plotted is not None and 0 <= time - self.plotted < 0.25):
            return
        self.plotted = time
        times, values = self.trace.table()
        data = (times, *values.T) if len(times) else (np.zeros(1), *np.zeros((len(self.trace.names), 1)))
        if self.plot is None:
            css = lambda k: "#000000" if k == 0 else "#" + "".join(f"{int(190 * c):02x}" for c in self.trace.colour(k))
            series = ({"label": "s"}, *({"label": name, "stroke": css(k), "width": 2} for k, name in enumerate(self.trace.names)))
            self.plot = self.server.gui.add_uplot(
                data, series, title="reward of a control step", scales={"x": {"time": False}}, legend={"show": True}, aspect=1.4)  # fmt: skip
        else:
            self.plot.data = data

    def _show_forces(self, arrows, scale):
        """New arrows; viser has none of no length."""
        says = f"1 m is {robot_weight(self.motion.model) / scale:.4g} N"
        if says != self.legend_says:
            self.legend.content = self.legend_says = says
        width = 0.006 * self.length
        self.server.scene.add_arrows(
            f"{ROOT}/forces", arrows if len(arrows) else np.zeros((1, 2, 3)), (217, 41, 41), shaft_radius=width,
            head_radius=2.2 * width, head_length=5 * width, visible=len(arrows) > 0,
        )  # fmt: skip

    def show(self) -> bool:
        panel, batch = self.panel, self.motion.batch
        place = np.array(batch.xpos[panel.env], float)
        with self.server.atomic():
            first = min(1, len(place) - 1)
            self.root.position = -place[first] * (1, 1, 0) if panel.follow else np.zeros(3)
            for b, frame in enumerate(self.frames):
                frame.position, frame.wxyz = place[b], batch.xquat[panel.env, b]
            for label in self.labels:
                if label.visible != panel.names:
                    label.visible = panel.names
            scale = self.length * panel.force_scale
            self._show_forces(contact_arrows(batch, panel.env, scale) if panel.forces else [], scale)
            self._show_markers()
            self._plot()
        hold_command(self.motion, panel)
        return True

    def close(self):
        self.server.stop()
