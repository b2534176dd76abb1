import type { Output } from "@hamlet/contract/client"
import type { ArchivedBranch } from "../history/archived-history.ts"
import type { Val } from "../names/find-val.ts"
import type { SourceFile } from "./write-branch.ts"

type Version = Output<"listVersions">["data"][number]
type Comment = Output<"listComments">["data"][number]

/** The path of the manifest in an archive. */
export const manifestPath = "manifest.json"

/**
 * The version of the format. It increases when older programs would read an archive wrongly: those
 * that know only 1 would leave out the files of a val with several.
 */
export const formatVersion = 3

/** The format of an archive without history, which programs before 3 read too. */
export const formatWithoutHistory = 2

/** Describes an archive: its server, its owner and its size. */
export interface Manifest {
  readonly format: "hamlet-archive"
  readonly formatVersion: number
  readonly server: string
  readonly user: string
  readonly exportedAt: string
  readonly counts: ArchiveCounts
}

/** What an archive contains, counted. */
export interface ArchiveCounts {
  readonly vals: number
  readonly versions: number
  readonly comments: number
}

/** A val in an archive: versions and comments oldest first; likes are for information only. */
export interface ArchivedVal {
  readonly name: string
  readonly type: Val["type"]
  readonly privacy: Val["privacy"]
  readonly readme: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly likeCount: number
  /** The files of the newest version of `main`, if there are more than code and readme. */
  readonly files?: readonly SourceFile[]
  /** All versions of all branches, if asked for. */
  readonly branches?: readonly ArchivedBranch[]
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

/** The path of a val in an archive. */
export function toValPath(name: string): string {
  return `vals/${name}.json`
}

/** Converts a val for an archive; versions and comments are given newest first. */
export function toArchivedVal(
  val: Val,
  versions: readonly Version[],
  comments: readonly Comment[],
  { files, branches }: Pick<ArchivedVal, "files" | "branches">,
): ArchivedVal {
  const { name, type, privacy, readme, createdAt, updatedAt, likeCount } = val
  return {
    name,
    type,
    privacy,
    readme,
    createdAt,
    updatedAt,
    likeCount,
    ...(files && { files }),
    ...(branches && { branches }),
    versions: versions
      .map(({ version, code, createdAt }) => ({ version, code, createdAt }))
      .reverse(),
    comments: comments
      .map(({ author, comment, createdAt }) => ({ author: author.username, comment, createdAt }))
      .reverse(),
  }
}
