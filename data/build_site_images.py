"""Draw the pictures of the sample site: ``python data/build_site_images.py [folder]``.

They are what the pictures of shops are: photographs larger than they are shown and saved at the highest
quality, one of them as PNG, and graphics of few colours. The photographs are rendered here, by marching rays
through solids given as distances, with lamps, shadows, textures and the noise of a camera: some minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from site_images.camera import Camera
from site_images.graphics import burner, chart, icon
from site_images.painted import coil, harbour
from site_images.scenes import (
    BLUE,
    RED,
    candle_scene,
    glasses_scene,
    lantern_scene,
    reading_scene,
    workbench_scene,
    workshop_scene,
)
from site_images.solids import Point, Scene


def main(folder: Path) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    camera = Camera(np.random.default_rng(11))
    eye, at = (0.0, 1.75, -5.4), (0.0, 1.32, 0.0)
    shop = (800, 800)
    products: dict[str, tuple[Scene, Point, Point, float]] = {
        "storm-lantern.jpg": (lantern_scene(BLUE), eye, at, 1.5),
        "storm-lantern-red.jpg": (lantern_scene(RED), eye, at, 1.5),
        "candle-holder.jpg": (candle_scene(), (0.5, 1.9, -4.8), (0.05, 1.0, 0), 1.75),
        "reading-lamp.jpg": (reading_scene(), (-0.3, 1.9, -5.4), (0.15, 1.1, 0), 1.7),
        "workbench-lamp.jpg": (workbench_scene(), (0.2, 1.7, -5.6), (-0.1, 1.15, 0), 1.75),
    }
    for name, (scene, from_, to, zoom) in products.items():
        camera.picture(scene, shop, from_, to, zoom).save(folder / name, quality=92)
        print(name, flush=True)
    wide = camera.picture(workshop_scene(), (1440, 630), (0, 2.3, -8.2), (0, 1.55, 0), 1.75)
    wide.save(folder / "workshop.jpg", quality=90)
    spare = camera.picture(glasses_scene(), (640, 360), (0, 1.5, -4.6), (0, 0.52, 0), 1.55, grain=0.004)
    spare.save(folder / "spare-glasses.png")
    dice = np.random.default_rng(23)
    coil(dice, shop).save(folder / "wick.jpg", quality=88)
    view = harbour(dice, (1600, 700))
    view.resize((1440, 630), Image.Resampling.LANCZOS).save(folder / "harbour.jpg", quality=92)
    harbour(np.random.default_rng(5), (1200, 630)).save(folder / "og.jpg", quality=88)
    icon().save(folder / "apple-touch-icon.png")
    chart().save(folder / "brightness.png")
    burner().save(folder / "burner-section.png")
    made = sorted(folder.glob("*.[jp][pn]g"))
    print(f"{len(made)} pictures, {sum(path.stat().st_size for path in made):,} bytes in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "site" / "images")
