import { createTimeSlice } from "../../shared/time-slice.ts"

/**
 * From here on a list is encoded item by item too: its last step would take as long as all others
 * together.
 */
const plainCharsMax = 262_144

/**
 * The JSON of an object with a list, `data`, and other fields. It is written item by item, with
 * pauses where it takes long: a page may hold a hundred vals, each as large as a val may be.
 */
export async function toListBody<Item>(
  items: readonly Item[],
  toView: (item: Item) => unknown,
  rest: Readonly<Record<string, unknown>>,
): Promise<string | Uint8Array> {
  const pace = createTimeSlice()
  const parts: string[] = []
  let chars = 0
  for (const item of items) {
    const part = JSON.stringify(toView(item))
    parts.push(part)
    chars += part.length
    await pace()
  }
  const [start, end] = ['{"data":[', `],${JSON.stringify(rest).slice(1)}`]
  if (chars <= plainCharsMax) return `${start}${parts.join(",")}${end}`
  const bytes: Uint8Array[] = [Buffer.from(start)]
  for (const [index, part] of parts.entries()) {
    bytes.push(Buffer.from(index === 0 ? part : `,${part}`))
    await pace()
  }
  return Buffer.concat([...bytes, Buffer.from(end)])
}
