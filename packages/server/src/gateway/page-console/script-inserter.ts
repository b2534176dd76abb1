import { findScriptPlace, type Reading } from "./find-script-place.ts"

/**
 * How much of a page is searched for the place of the script, and held back meanwhile. Pages whose
 * doctype comes later do not get the script.
 */
const beginningBytesMax = 16_384
const tagEnd = 62

/** Inserts a script tag into a page that arrives in chunks. Bytes behind the place are not copied. */
class ScriptInserter {
  readonly #script: Uint8Array
  readonly #reading: Reading = {
    at: 0,
    hasDoctype: false,
    hasRoot: false,
    isOpen: false,
  }
  /** The beginning of the page; undefined when the place was found, or there is none. */
  #held: Buffer | undefined = Buffer.alloc(0)

  constructor(script: Uint8Array) {
    this.#script = script
  }

  /** Takes the next chunk. Returns what can be sent. */
  add(chunk: Uint8Array): readonly Uint8Array[] {
    const held = this.#held
    if (!held || chunk.length === 0) return [chunk]
    const taken = chunk.subarray(0, beginningBytesMax - held.length)
    const rest = chunk.subarray(taken.length)
    const beginning = Buffer.concat([held, taken])
    this.#held = beginning
    const isFull = beginning.length === beginningBytesMax
    if (this.#reading.isOpen && !isFull && !taken.includes(tagEnd)) return []
    const sent = this.#insert(beginning, false)
    if (sent) return [sent, rest]
    if (!isFull) return []
    this.#held = undefined
    const { at, hasDoctype, hasRoot } = this.#reading
    return [hasDoctype || hasRoot ? this.#join(beginning, at) : beginning, rest]
  }

  /** Returns what is left at the end of the page. */
  end(): readonly Uint8Array[] {
    const held = this.#held
    if (!held || held.length === 0) return []
    return [this.#insert(held, true) ?? held]
  }

  #insert(beginning: Buffer, isWhole: boolean): Uint8Array | undefined {
    const place = findScriptPlace(beginning.toString("latin1"), this.#reading, isWhole)
    if (place === "later") return undefined
    this.#held = undefined
    return place === "none" ? beginning : this.#join(beginning, place)
  }

  #join(beginning: Buffer, at: number): Uint8Array {
    return Buffer.concat([beginning.subarray(0, at), this.#script, beginning.subarray(at)])
  }
}

/** A complete page with the script. */
export function insertIntoPage(page: Uint8Array, script: Uint8Array): Uint8Array {
  const inserter = new ScriptInserter(script)
  return Buffer.concat([...inserter.add(page), ...inserter.end()])
}

/** A page with the script, as it arrives and at the pace of its reader. */
export function insertIntoStream(
  page: ReadableStream<Uint8Array>,
  script: Uint8Array,
): ReadableStream<Uint8Array> {
  const inserter = new ScriptInserter(script)
  const reader = page.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (let sent = 0; sent === 0; ) {
          const { done, value } = await reader.read()
          for (const part of done ? inserter.end() : inserter.add(value)) {
            if (part.length === 0) continue
            controller.enqueue(part)
            sent += 1
          }
          if (done) return controller.close()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
