/** Asks name servers for records. Errors have the codes of `node:dns`. */
export type ResolveName = (name: string, type: string) => Promise<string[] | string[][]>

/** The names in a header that name servers are asked about. */
export interface SenderNames {
  /** The addresses in `From`. */
  readonly headerFrom: readonly string[]
  /** The domains that have signed the message. */
  readonly signingDomains: readonly string[]
  /** Where their keys are. */
  readonly keyNames: readonly string[]
}

/** What name servers say about a sender. */
export interface SenderFindings {
  /** The result of SPF, and the domain that it is about. */
  readonly spf: { readonly result: string; readonly domain: string }
  /** What the checks of DKIM and DMARC need. */
  readonly records: readonly NameRecord[]
}

/** The records of a name, or the code of the error. */
export interface NameRecord {
  readonly name: string
  readonly type: string
  readonly found: string[] | string[][] | { readonly code: string }
}

/** Keeps what name servers say, for a process that cannot ask them. */
export function recordNames(resolve: ResolveName): ResolveName & { list(): readonly NameRecord[] } {
  const records = new Map<string, NameRecord>()
  const keep = (name: string, type: string, found: NameRecord["found"]) =>
    void records.set(`${type} ${name}`, { name, type, found })
  const recorded: ResolveName = async (name, type) => {
    try {
      const found = await resolve(name, type)
      keep(name, type, found)
      return found
    } catch (error) {
      keep(name, type, { code: (error as { code?: string }).code ?? "ESERVFAIL" })
      throw error
    }
  }
  return Object.assign(recorded, { list: () => [...records.values()] })
}

/**
 * Resolves names with records that were found before. The result for any other name is that no
 * server has answered: the sender is undecided then, and not refused.
 */
export function replayNames(records: readonly NameRecord[]): ResolveName {
  const byName = new Map(records.map((record) => [`${record.type} ${record.name}`, record.found]))
  return async (name, type) => {
    const found = byName.get(`${type} ${name}`) ?? { code: "ETIMEOUT" }
    if ("code" in found) throw toDnsError(found.code)
    return found
  }
}

/** An error with a code of `node:dns`. */
export function toDnsError(code: string): Error {
  return Object.assign(new Error(`query: ${code}`), { code })
}
