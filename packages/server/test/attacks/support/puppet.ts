import type { SavedVal, Village, Villager } from "./village.ts"

/** What came of a deed: what the code returned, or the error that it got as `name: message`. */
export interface Deed {
  readonly got?: unknown
  readonly denied?: string
  readonly runId: string
}

/** A val that does what it is told. Many probes need one process and not one each. */
export interface Puppet {
  readonly val: SavedVal
  /** Does what the code says, which is the body of an async function of `request`. */
  act(code: string): Promise<Deed>
}

export async function createPuppet(
  village: Village,
  owner: Villager = village.mallory,
): Promise<Puppet> {
  const val = await village.save(owner, { code: puppetCode })
  return {
    val,
    async act(code) {
      const { status, text, json, headers } = await village.visit(val, {
        method: "POST",
        body: code,
      })
      if (status !== 200 || json === undefined)
        throw new Error(`the puppet has not answered: ${status} ${text.slice(0, 1000)}`)
      return { ...json, runId: headers.get("x-run-id") ?? "" }
    },
  }
}

/** One for all probes of a suite, made when the first of them wants it. */
export function createPuppeteer(village: () => Village): () => Promise<Puppet> {
  let puppet: Promise<Puppet> | undefined
  return () => {
    puppet ??= createPuppet(village())
    return puppet
  }
}

const puppetCode = `const AsyncFunction = (async () => {}).constructor
export default async function (request) {
  const code = await request.text()
  try {
    return Response.json({ got: (await new AsyncFunction("request", code)(request)) ?? "nothing" })
  } catch (error) {
    return Response.json({ denied: error?.name + ": " + error?.message })
  }
}
`
