import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { DiffViewProps } from "../../../editor/diff-view-props.ts"
import { LazyDiffView } from "../../../editor/lazy.tsx"
import { setTo } from "../../../ui/bind.ts"
import { Icon } from "../../../ui/icon.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { Loaded, MoreButton } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { LinkButton } from "../../parts/buttons/link-button.tsx"
import { ChangeMark } from "./change-mark.tsx"
import { type ComparedFile, type FileTexts, summarize, toShownPath } from "./compared-file.ts"

/** How differences are laid out; the choices of a select. */
export const diffLayouts = [
  { value: "inline", label: "Inline" },
  { value: "side-by-side", label: "Side by side" },
] as const

const limits = {
  /** With more files, each is opened by hand. */
  openFilesMax: 8,
  filesPerPage: 100,
  /** A longer difference is shown on demand. */
  charsMax: 120_000,
}

interface FileDiffsProps<File extends ComparedFile> {
  readonly files: readonly File[]
  readonly layout: DiffViewProps["layout"]
  /** The accessible name of the difference; with several files, it begins with the path. */
  readonly label: string
  /** Another key is another comparison. */
  readonly loadKey: string
  readonly load: (file: File, signal: AbortSignal) => Promise<FileTexts>
  /** Shown beside the path of a file. */
  readonly actions?: (file: File) => ComponentChildren
}

/** Files that differ, each with its difference, whose texts are loaded when it is opened. */
export function FileDiffs<File extends ComparedFile>(props: FileDiffsProps<File>) {
  const { files, loadKey, ...rest } = props
  const shownCount = useSignal(limits.filesPerPage)
  const isOpen = files.length <= limits.openFilesMax
  return (
    <>
      <p class="quiet file-diff-summary">{summarize(files)}</p>
      <ul class="file-diffs">
        {files.slice(0, shownCount.value).map((file) => (
          <FileDiffCard
            {...rest}
            key={`${loadKey} ${file.kind} ${file.path}`}
            file={file}
            loadKey={loadKey}
            isOpenAtFirst={isOpen}
            label={files.length === 1 ? rest.label : `${toShownPath(file)}: ${rest.label}`}
          />
        ))}
      </ul>
      {files.length > shownCount.value ? (
        <MoreButton onClick={setTo(shownCount, shownCount.value + limits.filesPerPage)}>
          {`Show more of ${files.length} files`}
        </MoreButton>
      ) : null}
    </>
  )
}

function FileDiffCard<File extends ComparedFile>(
  props: Omit<FileDiffsProps<File>, "files"> & {
    readonly file: File
    readonly isOpenAtFirst: boolean
  },
) {
  const { file, actions, isOpenAtFirst } = props
  const isOpen = useSignal(isOpenAtFirst)
  return (
    <li class="boxed file-diff">
      <div class="row wrap file-diff-head">
        <button
          type="button"
          class="row small file-diff-toggle"
          aria-expanded={isOpen.value}
          onClick={setTo(isOpen, !isOpen.value)}
        >
          <Icon name="chevron" />
          <ChangeMark kind={file.kind} />
          <span class="mono breaks">
            {file.newPath === null ? file.path : `${file.path} → ${file.newPath}`}
          </span>
        </button>
        {actions ? <span class="row file-diff-actions">{actions(file)}</span> : null}
      </div>
      {isOpen.value ? <FileDiff {...props} /> : null}
    </li>
  )
}

/** The difference of one file. */
export function FileDiff<File extends ComparedFile>(
  props: Omit<FileDiffsProps<File>, "files" | "actions"> & { readonly file: File },
) {
  const { file, layout, label, loadKey, load } = props
  const isShown = useSignal(false)
  const texts = useResource(`${loadKey} ${file.path}`, (signal) => load(file, signal))
  return (
    <Loaded of={texts} skeleton={<Bars count={3} />}>
      {({ before, after }) => {
        if (before === after) return <p class="quiet file-diff-note">{describeSame(file)}</p>
        const chars = before.length + after.length
        if (chars > limits.charsMax && !isShown.value)
          return (
            <p class="quiet file-diff-note">
              The texts have {chars.toLocaleString("en")} characters.{" "}
              <LinkButton about={`of ${toShownPath(file)}`} onClick={setTo(isShown, true)}>
                Show the difference
              </LinkButton>
            </p>
          )
        return (
          <div class="diff-host">
            <LazyDiffView
              before={before}
              after={after}
              layout={layout}
              path={toShownPath(file)}
              label={label}
            />
          </div>
        )
      }}
    </Loaded>
  )
}

function describeSame({ kind, path }: ComparedFile): string {
  if (path.endsWith("/")) return "It is a folder."
  if (kind === "moved") return "Its text is the same."
  return kind === "changed" ? "Its text is the same; its type has changed." : "The file is empty."
}
