import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../../ui/bind.ts"
import { api } from "../../api.ts"
import { toHrefWith } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import { LinkButton } from "../../parts/buttons/link-button.tsx"
import { Field } from "../../parts/forms/field.tsx"
import { FormDialog } from "../../parts/forms/form-dialog.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { session } from "../../session/session.ts"
import { ChangeMark } from "../comparison/change-mark.tsx"
import { AskingButton } from "./asking-button.tsx"
import type { VersionChange } from "./group-versions.ts"
import type { ShownBranch } from "./shown-branch.ts"

const limits = { pathsMax: 4 }

/** What the rows of a list of versions have in common. */
export interface VersionListProps {
  readonly branch: ShownBranch
  readonly isOwn: boolean
  /** The version whose changes are shown. */
  readonly shown: number
  /** Whether the paths that a version has changed say something: the val has several files. */
  readonly hasPaths: boolean
  /** The version before each; of the last one that is loaded, it is not known. */
  readonly before: ReadonlyMap<number, number>
  /** The files are those of another version, and unsaved text is set aside. */
  readonly onRestored: () => Promise<void>
  readonly onDeleted: () => Promise<void>
  readonly onNoted: (version: number, note: string | null) => void
}

/** A version: its number, time, note, the paths that it has changed, and its actions. */
export function VersionRow(props: VersionListProps & { readonly version: VersionChange }) {
  const { version, branch, shown, before, isOwn, hasPaths } = props
  const isShown = version.version === shown
  const isCurrent = version.version === branch.version
  return (
    <li class={`row wrap version-row ${isShown ? "version-shown" : ""}`}>
      <VersionLink {...props} to={version.version} from={before.get(version.version)}>
        v{version.version}
      </VersionLink>
      {isCurrent ? <span class="badge">current</span> : null}
      <span class="quiet push">
        <TimeAgo at={version.createdAt} />
      </span>
      {version.note === null ? null : <p class="version-note breaks">{version.note}</p>}
      {hasPaths ? <ChangedPaths version={version} /> : null}
      <span class="wrap version-actions">
        {session.value.kind === "signed-in" ? <RunVersion {...props} /> : null}
        {isOwn ? <EditNote {...props} /> : null}
        {isOwn && !isCurrent ? <RestoreVersion {...props} /> : null}
        {isOwn && branch.isMain ? <DeleteVersion {...props} /> : null}
      </span>
    </li>
  )
}

/** The versions of one push, as one row that can be opened. */
export function PushRow(props: VersionListProps & { readonly push: readonly VersionChange[] }) {
  const { push, branch, shown, before } = props
  const [newest, oldest] = [push[0], push.at(-1)]
  const isOpen = useSignal(
    push.some(({ version }) => version === shown && version !== newest?.version),
  )
  if (!newest || !oldest) return null
  const name = `v${oldest.version} to v${newest.version}`
  return (
    <li class="version-push">
      <div class={`row wrap version-row ${newest.version === shown ? "version-shown" : ""}`}>
        <VersionLink {...props} to={newest.version} from={before.get(oldest.version)}>
          {name}
        </VersionLink>
        {newest.version === branch.version ? <span class="badge">current</span> : null}
        <span class="quiet push">
          <TimeAgo at={newest.createdAt} />
        </span>
        <span class="wrap version-actions">
          <span class="quiet">{push.length} versions, one for each change</span>
          <LinkButton
            aria-expanded={isOpen.value}
            about={`versions ${name}`}
            onClick={setTo(isOpen, !isOpen.value)}
          >
            {isOpen.value ? "Hide" : "Show"}
          </LinkButton>
        </span>
      </div>
      {isOpen.value ? (
        <ol class="version-list version-inner" aria-label={name}>
          {push.map((version) => (
            <VersionRow key={version.version} {...props} version={version} />
          ))}
        </ol>
      ) : null}
    </li>
  )
}

function VersionLink(
  props: Pick<VersionListProps, "shown"> & {
    readonly from: number | undefined
    readonly to: number
    readonly children: unknown
  },
) {
  const { from, to, shown, children } = props
  const isShown = to === shown
  return (
    <a
      class="table-name"
      href={toHrefWith({ from: from === undefined ? undefined : String(from), to: String(to) })}
      {...(isShown ? { "aria-current": "true" as const } : {})}
    >
      {children as string}
    </a>
  )
}

/** The first paths that a version has changed; each leads to the versions of the file. */
function ChangedPaths({ version: { changes, hasMoreChanges } }: { version: VersionChange }) {
  const rest = changes.length - limits.pathsMax
  return (
    <ul class="version-paths" aria-label="Changed files">
      {changes.slice(0, limits.pathsMax).map(({ path, kind, oldPath }) => (
        <li key={path}>
          <ChangeMark kind={kind} />
          <a
            class="ellipsis"
            href={toHrefWith({ file: path, from: undefined, to: undefined })}
            title={oldPath === null ? `Versions of ${path}` : `Versions of ${path}; was ${oldPath}`}
          >
            {path}
          </a>
        </li>
      ))}
      {rest > 0 ? (
        <li class="quiet">
          and {rest}
          {hasMoreChanges ? " or more" : ""} others
        </li>
      ) : null}
    </ul>
  )
}

type ActionProps = VersionListProps & { readonly version: VersionChange }

function RunVersion({ version: { version }, branch }: ActionProps) {
  const runId = useSignal<string | undefined>(undefined)
  const run = async () => {
    const input = {
      val_id: branch.valId,
      version,
      ...(branch.isMain ? {} : { branch: branch.name }),
    }
    runId.value = (await api.createRun(input, { respondAsync: true })).id
  }
  return (
    <>
      <LinkButton label={`Run version ${version}`} onClick={run}>
        Run
      </LinkButton>
      {runId.value ? (
        <a class="link-button" href={`/runs/${runId.value}`}>
          Open the run
        </a>
      ) : null}
    </>
  )
}

/** Changes what is said about a version. */
function EditNote({ version: { version, note }, branch, onNoted }: ActionProps) {
  const isOpen = useSignal(false)
  const text = useSignal("")
  const open = () => {
    text.value = note ?? ""
    isOpen.value = true
  }
  const save = async () => {
    const ids = { val_id: branch.valId, branch_id: branch.id, version }
    const changed = text.peek().trim() || null
    await api.putVersionNote({ ...ids, note: changed })
    isOpen.value = false
    onNoted(version, changed)
  }
  return (
    <>
      <LinkButton label={`Note of version ${version}`} onClick={open}>
        Note
      </LinkButton>
      {isOpen.value ? (
        <FormDialog
          title={`Note of version ${version}`}
          label="Save note"
          onSubmit={save}
          onClose={setTo(isOpen, false)}
        >
          <Field label="Note" hint="What has changed, and why. Leave it empty for none.">
            <input class="input" maxLength={200} {...bindText(text)} />
          </Field>
        </FormDialog>
      ) : null}
    </>
  )
}

/** Asks first: afterwards the list moves, and the pointer would be over another version's button. */
function RestoreVersion({ version: { version }, branch, onRestored, hasPaths }: ActionProps) {
  const restore = async () => {
    const input = { val_id: branch.valId, branch_id: branch.id, version }
    const saved = await api.restoreFiles({ ...input, note: `Restored version ${version}` })
    await onRestored()
    showDone(
      saved.isNewVersion
        ? `Version ${saved.version} has the files of version ${version}`
        : `The files are already those of version ${version}`,
    )
  }
  return (
    <AskingButton
      label="Restore"
      about={`version ${version}`}
      confirmLabel={hasPaths ? "Restore all files" : "Restore its code"}
      action={restore}
    >
      {hasPaths ? "All its files become" : "Its code becomes"} the new version. Version{" "}
      {branch.version} stays in the history, and unsaved text is set aside.
    </AskingButton>
  )
}

function DeleteVersion({ version: { version }, branch, onDeleted }: ActionProps) {
  const remove = async () => {
    await api.deleteVersion({ val_id: branch.valId, version })
    await onDeleted()
    showDone(`Version ${version} is deleted`)
  }
  return (
    <AskingButton
      label="Delete"
      about={`version ${version}`}
      confirmLabel={`Delete version ${version}`}
      action={remove}
      isDanger
    >
      It can no longer be run or imported, and its number is not used again.
    </AskingButton>
  )
}
