import type { Output, StorageClient } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { Bars, EmptyState } from "../../ui/page-states.tsx"
import { toBytes } from "../../ui/units.ts"
import { Loaded, MoreButton } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { currentLocation, setQuery } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { FileButton } from "../parts/buttons/file-button.tsx"
import { useAction } from "../parts/buttons/use-action.ts"
import { DataTable } from "../parts/lists/data-table.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { SearchBox } from "../search/search-box.tsx"
import { canChangeOwn } from "../session/owners.ts"
import { BlobView } from "./blob-view.tsx"
import { useStorage, useStorageModule } from "./storage.ts"

type Entry = Output<"listBlobs">[number]

const limits = { rowsAtOnce: 100 }

/** Blobs: list, upload, preview, download, delete. */
export function Blobs() {
  const storage = useStorage()
  const prefix = currentLocation.value.query.get("prefix") ?? ""
  const opened = useSignal<Entry | undefined>(undefined)
  const count = useSignal(limits.rowsAtOnce)
  const blobs = useResource(
    `${prefix} ${count.value}`,
    (signal) => loadBlobs(storage, prefix, count.value, signal),
    { keepsPrevious: true },
  )
  return (
    <>
      <search class="row wrap toolbar">
        <SearchBox
          label="Beginning of the key"
          value={prefix}
          onChange={(text) => setQuery({ prefix: text })}
        />
        {canChangeOwn() ? <UploadButton prefix={prefix} onDone={blobs.reload} /> : null}
      </search>
      <Loaded of={blobs} skeleton={<Bars count={6} kind="row" />}>
        {({ entries, hasMore }) =>
          entries.length === 0 ? (
            <NoBlobs isFiltered={prefix !== ""} />
          ) : (
            <>
              <BlobTable entries={entries} onOpen={(entry) => setTo(opened, entry)()} />
              {hasMore ? (
                <MoreButton onClick={setTo(count, count.value + limits.rowsAtOnce)}>
                  Show more
                </MoreButton>
              ) : null}
            </>
          )
        }
      </Loaded>
      {opened.value ? (
        <BlobView
          entry={opened.value}
          onClose={setTo(opened, undefined)}
          onDelete={() => {
            opened.value = undefined
            blobs.reload()
          }}
        />
      ) : null}
    </>
  )
}

async function loadBlobs(
  storage: StorageClient,
  prefix: string,
  count: number,
  signal: AbortSignal,
) {
  const found = await storage.listBlobs({ prefix, limit: count + 1 }, { signal })
  return { entries: found.slice(0, count), hasMore: found.length > count }
}

function BlobTable(props: {
  readonly entries: readonly Entry[]
  readonly onOpen: (entry: Entry) => void
}) {
  return (
    <DataTable
      rows={props.entries}
      toKey={({ key }) => key}
      columns={[
        [
          "Key",
          "table-wide",
          (entry) => (
            <button
              type="button"
              class="table-name row-link ellipsis blob-key"
              onClick={() => props.onOpen(entry)}
            >
              {entry.key}
            </button>
          ),
        ],
        ["Size", "table-number", ({ size }) => toBytes(size)],
        ["Changed", "table-number quiet", ({ lastModified }) => <TimeAgo at={lastModified} />],
      ]}
    />
  )
}

function UploadButton({ prefix, onDone }: { prefix: string; onDone: () => void }) {
  const storage = useStorage()
  const { isBusy, run } = useAction()
  const upload = async (files: readonly File[]) => {
    for (const file of files)
      await storage.putBlob({ key: prefix + file.name, content: file, contentType: file.type })
    showDone(
      files.length === 1 ? `Stored ${prefix}${files[0]?.name}` : `Stored ${files.length} files`,
    )
    onDone()
  }
  return (
    <FileButton
      label="Files to upload"
      takes={{ multiple: true }}
      icon="upload"
      disabled={isBusy}
      onPick={(files) => run(() => upload(files))}
    >
      {isBusy ? "Uploading…" : "Upload"}
    </FileButton>
  )
}

function NoBlobs({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState icon="file" title={isFiltered ? "No blob has such a key" : "No blobs"}>
      <p>
        Vals store them with <code>blob.set</code> of <code>{useStorageModule("blob")}</code>:
        texts, JSON, pictures, files of any kind.
      </p>
    </EmptyState>
  )
}
