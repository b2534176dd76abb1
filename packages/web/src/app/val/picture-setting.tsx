import type { Output } from "@hamlet/contract/client"
import { useRef } from "preact/hooks"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { useAction } from "../parts/buttons/use-action.ts"
import { ValPicture } from "../parts/lists/val-picture.tsx"
import { Section } from "../parts/section.tsx"

type Val = Output<"getVal">

/** The picture of a val in lists. */
export function PictureSetting(props: { val: Val; onSave: () => Promise<void> }) {
  const { id, imageUrl } = props.val
  const { isBusy, run } = useAction()
  const input = useRef<HTMLInputElement>(null)
  const save = async (url: string | null) => {
    await api.updateVal({ val_id: id, imageUrl: url })
    await props.onSave()
    showDone("Saved")
  }
  const shrink = async (file: File) => {
    const { shrinkPicture } = await import("./shrink-picture.ts")
    await save(await shrinkPicture(file))
  }
  return (
    <Section title="Picture">
      <div class="form">
        <p class="quiet">Shown beside its name in lists. A large picture is made small first.</p>
        <div class="form-foot">
          <ValPicture url={imageUrl} />
          <PictureLink url={imageUrl} />
          <input
            ref={input}
            class="visually-hidden"
            type="file"
            accept="image/png,image/jpeg,image/webp,image/gif"
            tabIndex={-1}
            aria-label="Picture to use"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? []
              event.currentTarget.value = ""
              if (file) void run(() => shrink(file))
            }}
          />
          <Button
            kind="quiet"
            icon="upload"
            disabled={isBusy}
            onClick={() => input.current?.click()}
          >
            {isBusy ? "Saving…" : "Choose a picture"}
          </Button>
          {imageUrl === undefined ? null : (
            <Button kind="quiet" icon="trash" action={() => save(null)}>
              Remove
            </Button>
          )}
        </div>
      </div>
    </Section>
  )
}

/** A picture that another program has set, at another address, is not loaded. */
function PictureLink({ url = "" }: { url?: string | undefined }) {
  return /^https?:/i.test(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow ugc">
      {new URL(url).host}
    </a>
  ) : null
}
