import type { Output } from "@hamlet/contract/client"
import type { Val } from "../names/find-val.ts"

type Version = Output<"listVersions">["data"][number]
type Comment = Output<"listComments">["data"][number]

/** The entry that says what an archive is. */
export const manifestPath = "manifest.json"

/**
 * What a reader has to understand. It grows when archives change so that an older program would
 * read them wrongly.
 */
export const formatVersion = 1

/** What an archive is: from where, whose, and how much. */
export interface Manifest {
  readonly format: "hamlet-archive"
  readonly formatVersion: number
  readonly server: string
  readonly user: string
  readonly exportedAt: string
  readonly counts: ArchiveCounts
}

/** How much an archive has. */
export interface ArchiveCounts {
  readonly vals: number
  readonly versions: number
  readonly comments: number
}

/** A val as an archive has it: versions and comments oldest first, likes only to be read. */
export interface ArchivedVal {
  readonly name: string
  readonly type: Val["type"]
  readonly privacy: Val["privacy"]
  readonly readme: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly likeCount: number
  readonly versions: readonly {
    readonly version: number
    readonly code: string
    readonly createdAt: string
  }[]
  readonly comments: readonly {
    readonly author: string
    readonly comment: string
    readonly createdAt: string
  }[]
}

/** Where a val is in an archive. */
export function toValPath(name: string): string {
  return `vals/${name}.json`
}

/** A val for an archive, given its versions and comments newest first. */
export function toArchivedVal(
  val: Val,
  versions: readonly Version[],
  comments: readonly Comment[],
): ArchivedVal {
  const { name, type, privacy, readme, createdAt, updatedAt, likeCount } = val
  return {
    ...{ name, type, privacy, readme, createdAt, updatedAt, likeCount },
    versions: versions
      .map(({ version, code, createdAt }) => ({ version, code, createdAt }))
      .reverse(),
    comments: comments
      .map(({ author, comment, createdAt }) => ({ author: author.username, comment, createdAt }))
      .reverse(),
  }
}
