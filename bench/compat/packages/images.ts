import type { PackageCase } from "../package-case.ts"

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** Pictures and charts. */
export const images: readonly PackageCase[] = [
  {
    code: `import { Resvg, initWasm } from "npm:@resvg/resvg-wasm@2.6.2"
import { createRequire } from "node:module"
import { readFileSync } from "node:fs"
const svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
export default async () => {
  const { resolve } = createRequire(import.meta.url)
  await initWasm(readFileSync(resolve("@resvg/resvg-wasm/index_bg.wasm")))
  return new Resvg(svg).render().asPng()[1]
}`,
    returns: 80,
  },
  {
    code: `import satori from "npm:satori@0.63.2"
export default async ({ font }) => {
  const data = await (await fetch(font)).arrayBuffer()
  const node = { type: "div", props: { children: "Hi", style: { fontSize: 20 } } }
  return (await satori(node, { width: 60, height: 30, fonts: [{ name: "f", data }] })).startsWith("<svg")
}`,
    returns: true,
    needs: ["font"],
  },
  {
    code: `import QRCode from "npm:qrcode@1.5.4"
export default async () => [(await QRCode.toString("hi", { type: "svg" })).startsWith("<svg"), (await QRCode.toDataURL("hi")).slice(0, 22)]`,
    returns: [true, "data:image/png;base64,"],
  },
  {
    code: `import { Jimp } from "npm:jimp@1.6.1"
export default async () => {
  const image = new Jimp({ width: 8, height: 4, color: 0xff0000ff }).resize({ w: 4, h: 2 })
  const copy = await Jimp.read(await image.getBuffer("image/png"))
  return [copy.width, copy.height, copy.getPixelColor(0, 0)]
}`,
    returns: [4, 2, 0xff0000ff],
  },
  {
    code: `import { PNG } from "npm:pngjs@7.0.0"
export default () => {
  const { width, data } = PNG.sync.read(Buffer.from("${pixel}", "base64"))
  return [width, data.length]
}`,
    returns: [1, 4],
  },
  {
    code: `import sharp from "npm:sharp@0.35.5"
export default async () => (await sharp({ create: { width: 2, height: 2, channels: 3, background: "red" } }).png().toBuffer()).length > 0`,
    returns: true,
  },
  {
    code: `import { createCanvas } from "npm:canvas@3.2.3"
export default () => createCanvas(2, 2).toBuffer("image/png").length > 0`,
    returns: true,
  },
  {
    code: `import { Chart, registerables } from "npm:chart.js@4.6.1"
Chart.register(...registerables)
export default () => [Chart.version.split(".")[0], typeof Chart.registry.getController("bar")]`,
    returns: ["4", "function"],
  },
  {
    code: `import * as d3 from "npm:d3@7.9.2"
export default () => [d3.scaleLinear([0, 10], [0, 100])(5), d3.line()([[0, 0], [1, 2]]), d3.format(",.1f")(1234.56)]`,
    returns: [50, "M0,0L1,2", "1,234.6"],
  },
]
