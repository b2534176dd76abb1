import { afterAll, beforeAll } from "bun:test"
import { GuestProcess, type LoadOptions, type Modules } from "./guest-process.ts"

const started = new Set<GuestProcess>()

/** Ends all guests; for `afterEach`. */
export async function stopVals(): Promise<void> {
  await Promise.all([...started].map((guest) => guest.stop()))
  started.clear()
}

/** A guest that is ready; it ends with the test. */
export async function startGuest({ isHurried = false } = {}): Promise<GuestProcess> {
  const guest = new GuestProcess()
  started.add(guest)
  await guest.start({}, isHurried)
  return guest
}

/** A guest with a val in it that was loaded. */
export async function startVal(
  code: string,
  options: LoadOptions & { readonly modules?: Modules } = {},
): Promise<GuestProcess> {
  const { modules = {}, ...load } = options
  const guest = await startGuest()
  guest.add(modules)
  const message = await guest.load(code, load)
  if (message.kind !== "loaded")
    throw new Error(`the val was not loaded: ${JSON.stringify(message)}`)
  return guest
}

/** A guest with a val that all tests of a suite share: what one does must not affect the others. */
export function useVal(code: string, options: LoadOptions = {}): () => GuestProcess {
  let guest: GuestProcess | undefined
  beforeAll(async () => {
    guest = new GuestProcess()
    await guest.start()
    const message = await guest.load(code, options)
    if (message.kind !== "loaded")
      throw new Error(`the val was not loaded: ${JSON.stringify(message)}`)
  })
  afterAll(() => guest?.stop())
  return () => {
    if (!guest) throw new Error("Cannot use the guest: the suite has not started yet")
    return guest
  }
}

/** A val whose default export runs one of these function bodies: that with the given number. */
export function toCases(parameters: string, bodies: readonly string[]): string {
  const functions = bodies.map((body) => `async (${parameters}) => { ${body} }`)
  return `const cases = [${functions.join(",\n")}]
export default (index: number, ...args: unknown[]) => cases[index](...args)`
}
