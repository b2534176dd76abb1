import { Bars } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { isNotFound } from "../../data/explain.ts"
import { Loaded } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { currentLocation, setQuery, toHrefWith } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import { Select } from "../../parts/forms/field.tsx"
import { QuerySelect, readChoice } from "../../parts/forms/query-choice.tsx"
import {
  type ComparedFile,
  compareFiles,
  type FileTexts,
  toShownPath,
} from "../comparison/compared-file.ts"
import { diffLayouts, FileDiff, FileDiffs } from "../comparison/file-diffs.tsx"
import { type ListedFile, listAllFiles, readText } from "../files/load-files.ts"
import { AskingButton } from "./asking-button.tsx"
import type { ShownBranch } from "./shown-branch.ts"

interface VersionChangesProps {
  readonly branch: ShownBranch
  readonly isOwn: boolean
  /** Only this file. */
  readonly file: string | undefined
  readonly to: number
  /** The versions in the list; undefined while it is being loaded. */
  readonly loaded: readonly number[] | undefined
  readonly onRestored: () => Promise<void>
}

/** The value of "nothing" among versions: all files are shown as added then. */
const nothing = "none"

/** The changes between any two versions of a branch, file by file. */
export function VersionChanges(props: VersionChangesProps) {
  const { branch, to, loaded } = props
  const wanted = currentLocation.value.query.get("from")
  // The previous version is not always one less: versions can be deleted.
  const previous = loaded?.find((version) => version < to)
  const isNothing = wanted === nothing || (branch.isMain && wanted === "0")
  const from = isNothing ? undefined : (readNumber(wanted) ?? previous)
  const isReady = loaded !== undefined || wanted !== null
  return (
    <section class="version-diff" aria-label="Changes">
      <div class="row wrap version-bar">
        <h2>Changes</h2>
        <span class="version-choice">
          <VersionSelect
            label="From"
            loaded={loaded}
            value={from}
            hasNone
            onChange={(version) => setQuery({ from: version, to: String(to) })}
          />
          <span class="quiet" aria-hidden="true">
            →
          </span>
          <VersionSelect
            label="To"
            loaded={loaded}
            value={to}
            onChange={(version) => setQuery({ from: toValue(from), to: version })}
          />
        </span>
        <QuerySelect name="layout" label="Layout" choices={diffLayouts} />
      </div>
      <OtherComparisons branch={branch} to={to} from={from} previous={previous} />
      {isReady ? <Difference {...props} from={from} /> : <Bars count={8} />}
    </section>
  )
}

/** Leads to the comparison with the version before, and with the newest one. */
function OtherComparisons(props: {
  readonly branch: ShownBranch
  readonly from: number | undefined
  readonly to: number
  readonly previous: number | undefined
}) {
  const { branch, from, to, previous } = props
  const isNewest = to === branch.version
  const isOfOne = from === previous
  if (isNewest && isOfOne) return null
  return (
    <p class="row wrap version-others small">
      {isOfOne ? null : (
        <a href={toHrefWith({ from: undefined, to: String(to) })}>
          Compare v{to} with the version before
        </a>
      )}
      {isNewest ? null : (
        <a href={toHrefWith({ from: String(to), to: String(branch.version) })}>
          Compare v{to} with the newest
        </a>
      )}
    </p>
  )
}

function VersionSelect(props: {
  readonly label: string
  readonly loaded: readonly number[] | undefined
  /** Undefined for nothing. */
  readonly value: number | undefined
  /** Offers "nothing", to see a whole version. */
  readonly hasNone?: boolean
  readonly onChange: (version: string) => void
}) {
  const { label, loaded = [], value, hasNone = false, onChange } = props
  // The chosen version may be deleted, or on a page that is not loaded.
  const known = value === undefined ? loaded : [...loaded, value]
  const numbers = [...new Set(known)].sort((one, other) => other - one)
  const choices = numbers.map((version) => ({ value: String(version), label: `v${version}` }))
  return (
    <Select
      label={label}
      isLabelHidden
      value={toValue(value)}
      choices={[...choices, ...(hasNone ? [{ value: nothing, label: "nothing" }] : [])]}
      onChange={onChange}
    />
  )
}

function toValue(version: number | undefined): string {
  return version === undefined ? nothing : String(version)
}

/** A version in the address; undefined if it is none. */
export function readNumber(text: string | null): number | undefined {
  const number = Number(text)
  return text !== null && text !== "" && Number.isInteger(number) && number >= 0
    ? number
    : undefined
}

function Difference(props: VersionChangesProps & { readonly from: number | undefined }) {
  const { branch, from, to, file } = props
  const { value: layout } = readChoice("layout", diffLayouts)
  // The newest version may be deleted and the one before may become the newest.
  const key = `${branch.id} ${toValue(from)} ${to} ${branch.version}`
  const files = useResource(key, async (signal) => {
    const [old, now] = await Promise.all([
      loadFiles(branch, from, signal),
      loadFiles(branch, to, signal),
    ])
    return { old, now }
  })
  return (
    <Loaded of={files} skeleton={<Bars count={8} />}>
      {({ old, now }) => {
        if (!old || !now || to > branch.version)
          return <p class="quiet">Version {old ? to : from} was deleted, or never existed.</p>
        const all = compareFiles(old, now)
        const compared = all.filter((one) => [undefined, one.path, one.newPath].includes(file))
        const [only] = compared
        if (!only) return <p class="quiet">{describeNone(file)}</p>
        const shared = {
          layout,
          loadKey: key,
          label: `Changes from ${from === undefined ? "nothing" : `version ${from}`} to version ${to}`,
          load: (one: ComparedFile, signal: AbortSignal) =>
            loadTexts(branch, one, from, to, signal),
        }
        // A val with one file has no need of its name.
        if (new Set([...old, ...now].map(({ path }) => path)).size === 1)
          return (
            <div class="boxed">
              <FileDiff {...shared} file={only} />
            </div>
          )
        const actions = (one: ComparedFile) => <FileActions {...props} compared={one} />
        return <FileDiffs key={key} {...shared} files={compared} actions={actions} />
      }}
    </Loaded>
  )
}

/** All files and directories of a version, or of nothing; undefined if it was deleted. */
async function loadFiles(
  { valId, id }: ShownBranch,
  version: number | undefined,
  signal: AbortSignal,
): Promise<readonly ListedFile[] | undefined> {
  if (version === undefined) return []
  try {
    return await listAllFiles(valId, { id, version }, signal)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function loadTexts(
  { valId, id }: ShownBranch,
  { path, newPath, kind }: ComparedFile,
  from: number | undefined,
  to: number,
  signal: AbortSignal,
): Promise<FileTexts> {
  const [before, after] = await Promise.all([
    kind === "added" || from === undefined
      ? ""
      : readText(valId, id, { path, version: from }, signal),
    kind === "deleted" ? "" : readText(valId, id, { path: newPath ?? path, version: to }, signal),
  ])
  return { before, after }
}

function describeNone(file: string | undefined): string {
  return file === undefined
    ? "The code of both versions is the same."
    : `${file} is the same in both versions.`
}

/** The history of a file, and what it was before or in an old version, to restore it. */
function FileActions(
  props: VersionChangesProps & {
    readonly from: number | undefined
    readonly compared: ComparedFile
  },
) {
  const { branch, isOwn, from, to, compared, onRestored, file } = props
  const { path, kind } = compared
  const shown = toShownPath(compared)
  const isInOld = kind !== "added" && from !== undefined && from !== branch.version
  const isInNew = kind !== "deleted" && to !== branch.version
  const shared = { branch, onRestored }
  return (
    <>
      {file === undefined ? (
        <a class="link-button" href={toHrefWith({ file: shown, from: undefined, to: undefined })}>
          History<span class="visually-hidden"> of {shown}</span>
        </a>
      ) : null}
      {isOwn && isInOld ? <RestoreFile {...shared} path={path} version={from} /> : null}
      {isOwn && isInNew ? <RestoreFile {...shared} path={shown} version={to} /> : null}
    </>
  )
}

function RestoreFile(
  props: Pick<VersionChangesProps, "branch" | "onRestored"> & {
    readonly path: string
    readonly version: number
  },
) {
  const { branch, onRestored, path, version } = props
  const restore = async () => {
    const input = { val_id: branch.valId, branch_id: branch.id, version, path }
    const note = toNote(`Restored ${path} of version ${version}`)
    const saved = await api.restoreFiles({ ...input, note })
    await onRestored()
    showDone(
      saved.isNewVersion
        ? `Version ${saved.version} has ${path} of version ${version}`
        : `${path} is already that of version ${version}`,
    )
  }
  return (
    <AskingButton
      label={`Restore v${version}`}
      about={`of ${path}`}
      confirmLabel="Restore the file"
      action={restore}
    >
      <code>{path}</code> becomes what it was in version {version}, as a new version. All other
      files stay as they are.
    </AskingButton>
  )
}

/** A note has at most 200 characters, and a path may have more. */
function toNote(text: string): string {
  return text.slice(0, 200)
}
