import { afterAll, beforeAll, beforeEach, describe, expect, spyOn, test } from "bun:test"
import { eventually } from "../../../test/support/eventually.ts"
import type { FromWorker, ToWorker } from "./protocol.ts"
import { createTypeService, type TypeService } from "./type-service.ts"

/** Whether a worker takes forever for a query: types of packages, or the code. */
let hangsOn: { readonly packages?: true; readonly text?: string } = {}
let workers: HangingWorker[] = []

/** The worker as the page sees it. It gives no result where TypeScript would loop. */
class HangingWorker extends EventTarget {
  isTerminated = false
  #hasPackages = false
  #text = ""

  constructor() {
    super()
    workers.push(this)
  }

  postMessage(message: ToWorker): void {
    if (message.kind === "start") this.#send({ kind: "ready" })
    if (message.kind === "lock") this.#hasPackages = true
    if (message.kind !== "query") return
    this.#text = message.text ?? this.#text
    const isHanging =
      (hangsOn.packages && this.#hasPackages) ||
      (hangsOn.text !== undefined && this.#text.includes(hangsOn.text))
    if (!isHanging) this.#send({ kind: "result", id: message.id, result: [] })
  }

  terminate(): void {
    this.isTerminated = true
  }

  #send(data: FromWorker): void {
    queueMicrotask(() => this.dispatchEvent(new MessageEvent("message", { data })))
  }
}

const path = "ada/hello.tsx"
/** A document of CodeMirror is another object after each change. */
const toText = (text: string) => ({ toString: () => text })

function openService(): TypeService {
  const service = createTypeService({
    workerUrl: "/worker.js",
    libsUrl: "/libs.json",
    domTypesUrl: "",
    nodeTypesUrl: "/node.json",
    baseUrl: "http://localhost",
    readPageKey: () => "key",
    queryMsMax: 20,
  })
  service.open(path)
  return service
}

/** Asks until there is a result, as the editor does when the service says that something changed. */
function diagnose(service: TypeService, text: object): Promise<unknown> {
  return eventually(
    () => service.query(path, text, "diagnose", {}),
    (result) => expect(result).toBeDefined(),
  )
}

describe("createTypeService", () => {
  const { Worker, location } = globalThis
  const warn = spyOn(console, "warn")
  beforeAll(() => {
    const page = { href: "http://localhost/", origin: "http://localhost" }
    Object.assign(globalThis, { Worker: HangingWorker, location: page })
    warn.mockImplementation(() => {})
  })
  afterAll(() => {
    Object.assign(globalThis, { Worker, location })
    warn.mockRestore()
  })
  beforeEach(() => {
    workers = []
    hangsOn = {}
  })

  test("starts again without packages when their types take too long", async () => {
    hangsOn = { packages: true }
    const service = openService()
    service.setLocked(path, { valId: "v1", version: 1 })
    expect(await diagnose(service, toText("z.string()"))).toEqual([])
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false])
    service.stop()
  })

  test("starts again when the code has changed that takes too long", async () => {
    hangsOn = { text: "Loop" }
    const service = openService()
    const looping = toText("type A = Loop")
    await eventually(
      () => service.query(path, looping, "diagnose", {}),
      (result) => expect([result, workers[0]?.isTerminated]).toEqual([undefined, true]),
    )
    // A text that took too long is not tried again.
    expect(await service.query(path, looping, "diagnose", {})).toBeUndefined()
    expect(workers).toHaveLength(1)
    expect(await diagnose(service, toText("type A = 1"))).toEqual([])
    expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, false])
    service.stop()
  })

  test("gives up after four workers that no text was checked by", async () => {
    hangsOn = { text: "Loop" }
    const service = openService()
    for (
      let change = 0;
      workers.length < 4 || !workers.every((one) => one.isTerminated);
      change++
    ) {
      await service.query(path, toText(`type A = Loop<${change}>`), "diagnose", {})
      await Bun.sleep(1)
    }
    for (let change = 0; change < 3; change++)
      expect(await service.query(path, toText(`${change}`), "diagnose", {})).toBeUndefined()
    expect(workers).toHaveLength(4)
    service.stop()
  })
})
