import { expect, test } from "bun:test"
import { createQueue } from "./output-queue.mjs"

test("createQueue prints one writer after the other and loses nothing", () => {
  let printed = ""
  const [one, two, three] = createQueue(3, (text) => {
    printed += text
  })
  two?.("b1")
  one?.("a1")
  expect(printed).toBe("a1")
  three?.("c")
  three?.(undefined)
  one?.("a2")
  one?.(undefined)
  expect(printed).toBe("a1a2b1")
  two?.("b2")
  two?.(undefined)
  expect(printed).toBe("a1a2b1b2c")
})
