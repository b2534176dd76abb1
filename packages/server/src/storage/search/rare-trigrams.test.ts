import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { foldText } from "./fold-text.ts"
import * as module from "./rare-trigrams.ts"

const rareTrigrams = (...args: Parameters<typeof module.rareTrigrams>) =>
  module.rareTrigrams(...args).map(({ text }) => text)

describe("rareTrigrams", () => {
  test("chooses rare characters before frequent ones", () => {
    expect(rareTrigrams("the zqx tree", 1, (text) => text)).toEqual(["zqx"])
    expect(rareTrigrams(foldText("return ~^|"), 1, foldText)).toEqual([foldText("~^|")])
  })

  test("spreads its choice over the text, so that every word counts", () => {
    const trigrams = rareTrigrams("weather report", 8, (text) => text)
    expect(trigrams.some((trigram) => "weather".includes(trigram))).toBe(true)
    expect(trigrams.some((trigram) => "report".includes(trigram))).toBe(true)
  })

  test("returns between one and the maximum, each once and each in the text", () => {
    const query = fc.string({ unit: "grapheme", minLength: 3 }).map(foldText)
    fc.assert(
      fc.property(query, fc.integer({ min: 1, max: 10 }), (text, countMax) => {
        fc.pre([...text].length >= 3)
        const trigrams = rareTrigrams(text, countMax, foldText)
        expect(trigrams.length).toBeGreaterThan(0)
        expect(trigrams.length).toBeLessThanOrEqual(countMax)
        expect(new Set(trigrams).size).toBe(trigrams.length)
        for (const trigram of trigrams)
          expect([text.includes(trigram), [...trigram].length]).toEqual([true, 3])
      }),
    )
  })
})
