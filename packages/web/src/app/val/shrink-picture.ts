import { limits as wireLimits } from "@hamlet/contract/limits"

const limits = { bytesMax: 20_000_000, pixels: 64 }
/** Smaller and smaller; a browser that cannot write a format writes PNG instead. */
const formats = [
  ["image/webp", 0.9],
  ["image/webp", 0.6],
  ["image/jpeg", 0.7],
  ["image/jpeg", 0.3],
] as const

/** The middle of a picture, so small that it is part of the record of a val. */
export async function shrinkPicture(file: File): Promise<string> {
  const fail = (problem: string, cause?: unknown) =>
    new Error(`Cannot use "${file.name}" as a picture: ${problem}`, { cause })
  if (file.size > limits.bytesMax) throw fail(`it is larger than ${limits.bytesMax / 1_000_000} MB`)
  const bitmap = await createImageBitmap(file).catch((cause: unknown) => {
    throw fail("this browser cannot read it", cause)
  })
  const { pixels } = limits
  const canvas = document.createElement("canvas")
  canvas.width = pixels
  canvas.height = pixels
  const side = Math.min(bitmap.width, bitmap.height)
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2]
  const context = canvas.getContext("2d")
  if (context) context.imageSmoothingQuality = "high"
  context?.drawImage(bitmap, left, top, side, side, 0, 0, pixels, pixels)
  bitmap.close()
  for (const [type, quality] of formats) {
    const url = canvas.toDataURL(type, quality)
    if (url.length <= wireLimits.imageUrlCharsMax) return url
  }
  throw fail("it cannot be made small enough")
}
