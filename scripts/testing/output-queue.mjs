/** @typedef {(text: string | undefined) => void} Write Writes a text; undefined says that there is no more to come. */

/**
 * Several that write at the same time, of which one is heard after the other: the first at once,
 * each other one when those before it have ended. Lines of two test runs among each other could not
 * be read.
 * @param {number} count
 * @param {(text: string) => void} print
 * @returns {Write[]}
 */
export function createQueue(count, print) {
  const held = Array.from({ length: count }, () => ({ text: "", hasEnded: false }))
  let current = 0
  const show = () => {
    for (let part = held[current]; part; part = held[current]) {
      if (part.text !== "") print(part.text)
      part.text = ""
      if (!part.hasEnded) return
      current += 1
    }
  }
  return held.map((part) => (text) => {
    if (text === undefined) part.hasEnded = true
    else part.text += text
    show()
  })
}
