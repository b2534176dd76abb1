import type { Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { setTo } from "../../ui/bind.ts"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { printJson } from "../../ui/code/print-json.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { Bars } from "../../ui/page-states.tsx"
import { toBytes } from "../../ui/units.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { Picture } from "../parts/picture.tsx"
import { canChangeOwn } from "../session/owners.ts"
import { saveFile } from "./save-file.ts"
import { useStorage } from "./storage.ts"

type Entry = Output<"listBlobs">[number]

const limits = { shownBytesMax: 1_000_000 }

/** One blob: what is in it, as far as a page can show it. */
export function BlobView(props: {
  readonly entry: Entry
  readonly onClose: () => void
  readonly onDelete: () => void
}) {
  const { key, size } = props.entry
  const storage = useStorage()
  const isSure = useSignal(false)
  const download = async () => {
    const content = await (await storage.getBlob({ key })).blob()
    saveFile(content, key.slice(key.lastIndexOf("/") + 1))
  }
  const remove = async () => {
    await storage.deleteBlob({ key })
    showDone(`Deleted ${key}`)
    props.onDelete()
  }
  return (
    <Dialog title={key} kind="wide" onClose={props.onClose}>
      <p class="quiet">{toBytes(size)}</p>
      {size <= limits.shownBytesMax ? (
        <Preview entry={props.entry} />
      ) : (
        <p>It is too large to be shown here.</p>
      )}
      <div class="row wrap dialog-foot">
        {!canChangeOwn() ? null : isSure.value ? (
          <Button kind="danger" action={remove}>
            Delete for good
          </Button>
        ) : (
          <Button kind="danger-quiet" icon="trash" onClick={setTo(isSure, true)}>
            Delete
          </Button>
        )}
        <Button kind="quiet" icon="download" action={download}>
          Download
        </Button>
      </div>
    </Dialog>
  )
}

function Preview({ entry: { key, lastModified } }: { entry: Entry }) {
  const storage = useStorage()
  const content = useResource(`${key} ${lastModified}`, async (signal) =>
    toShown(await (await storage.getBlob({ key }, { signal })).blob()),
  )
  return (
    <Loaded of={content} skeleton={<Bars count={4} />}>
      {(shown) => {
        if (shown.kind === "picture") return <Picture content={shown.content} alt={key} />
        if (shown.kind === "bytes") return <p>It is neither text nor a picture.</p>
        return <CodeBlock code={shown.text} language={shown.kind} label="Content" isWrapped />
      }}
    </Loaded>
  )
}

type Shown =
  | { readonly kind: "picture"; readonly content: Blob }
  | { readonly kind: "json" | "text"; readonly text: string }
  | { readonly kind: "bytes" }

/** SVG is shown as text: as a picture it is a document of its own. */
async function toShown(content: Blob): Promise<Shown> {
  if (/^image\/(?:png|jpeg|gif|webp|avif)\b/.test(content.type)) return { kind: "picture", content }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await content.arrayBuffer())
    const json = printJson(text)
    return json === undefined ? { kind: "text", text } : { kind: "json", text: json }
  } catch {
    return { kind: "bytes" }
  }
}
