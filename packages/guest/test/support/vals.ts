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
