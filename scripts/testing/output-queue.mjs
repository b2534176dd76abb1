/** @typedef {(text: string | undefined) => void} Write Writes a text; undefined ends the output. */

/**
 * Orders the output of several writers: the first is printed at once, each other one when those
 * before it have ended. Interleaved lines of two test runs would be unreadable.
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
