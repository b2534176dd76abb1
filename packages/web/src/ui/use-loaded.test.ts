import { afterAll, beforeAll, expect, test } from "bun:test"
import { type ComponentType, type ContainerNode, h, render } from "preact"
import { act } from "preact/test-utils"
import { type LoadedPart, useLoaded } from "./use-loaded.ts"

type Part = ComponentType<object>

/** Shows a part, and records what it got in each rendering. It renders nothing, and needs no page. */
function createInstance(load: () => Promise<Part>) {
  const seen: LoadedPart<object>[] = []
  const Instance = () => {
    seen.push(useLoaded(load))
    return null
  }
  const place = { childNodes: [] } as unknown as ContainerNode
  return { seen, show: () => render(h(Instance, null), place), hide: () => render(null, place) }
}

/** A part that is loaded when the test says so. */
function createPart() {
  const { promise, resolve } = Promise.withResolvers<Part>()
  return { Part: () => null, load: () => promise, resolve }
}

const last = ({ seen }: { readonly seen: readonly LoadedPart<object>[] }) => seen.at(-1)

// Preact compares the place with the document.
beforeAll(() => void Object.assign(globalThis, { document: {} }))
afterAll(() => void Reflect.deleteProperty(globalThis, "document"))

test("useLoaded shows what another instance has loaded between its rendering and its effect", async () => {
  const { Part, load, resolve } = createPart()
  const [first, second] = [createInstance(load), createInstance(load)]
  await act(first.show)
  await act(async () => {
    second.show()
    resolve(Part)
    await load()
    // The effect of the second one comes after this.
    expect(last(second)?.component).toBeUndefined()
  })
  expect([last(first)?.component, last(second)?.component]).toEqual([Part, Part])
})

test("useLoaded goes on showing the same component after another instance has loaded it", async () => {
  const parts = [() => null, () => null]
  const answers = parts.map(() => Promise.withResolvers<Part>())
  let loads = 0
  const load = () => (answers[loads++] as (typeof answers)[number]).promise
  const [first, second] = [createInstance(load), createInstance(load)]
  await act(() => {
    first.show()
    second.show()
  })
  for (const [index, part] of parts.entries())
    await act(async () => {
      answers[index]?.resolve(part)
      await answers[index]?.promise
    })
  await act(first.show)
  expect([last(first)?.component, last(second)?.component]).toEqual([parts[0], parts[0]])
})
