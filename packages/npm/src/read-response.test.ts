import { expect, test } from "bun:test"
import { readResolveResponse } from "./read-response.ts"
import { joinResponse } from "./tool/tool-messages.ts"

const headBytesMax = 10_000

function respond(foundIn: number, resolvedIn: number): Uint8Array {
  const common = { specifier: "npm:a" }
  const toPlaces = (file: number) => [{ file, start: 0, end: 7 }]
  const resolved = { resolved: "npm:a@1.0.0", failure: null, entry: -1, exports: [] }
  return Buffer.concat([
    joinResponse({ found: [{ ...common, places: toPlaces(foundIn) }] }),
    joinResponse({
      imports: [{ ...common, ...resolved, places: toPlaces(resolvedIn) }],
      bundle: null,
    }),
  ])
}

test("readResolveResponse refuses places in files that were not sent", () => {
  const read = (foundIn: number, resolvedIn: number) =>
    readResolveResponse(respond(foundIn, resolvedIn), headBytesMax, 2)
  expect(read(1, 1)?.imports).toMatchObject([{ places: [{ file: 1 }] }])
  expect(read(0, 2)).toMatchObject({ found: [{ places: [{ file: 0 }] }], imports: undefined })
  expect(read(2, 0)).toBeUndefined()
})
