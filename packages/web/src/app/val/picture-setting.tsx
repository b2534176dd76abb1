import type { Output } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { FileButton } from "../parts/buttons/file-button.tsx"
import { useAction } from "../parts/buttons/use-action.ts"
import { ValPicture } from "../parts/lists/val-picture.tsx"
import { Section } from "../parts/section.tsx"

type Val = Output<"getVal">

/** The picture of a val in lists. */
export function PictureSetting(props: { val: Val; onSave: () => Promise<void> }) {
  const { id, imageUrl } = props.val
  const { isBusy, run } = useAction()
  const save = async (url: string | null) => {
    await api.updateVal({ val_id: id, imageUrl: url })
    await props.onSave()
    showDone("Saved")
  }
  const shrink = async ([file]: readonly File[]) => {
    const { shrinkPicture } = await import("./shrink-picture.ts")
    if (file) await save(await shrinkPicture(file))
  }
  return (
    <Section title="Picture">
      <div class="form">
        <p class="quiet">Shown beside its name in lists. A large picture is made small first.</p>
        <div class="row wrap form-foot">
          <ValPicture url={imageUrl} />
          <PictureLink url={imageUrl} />
          <FileButton
            label="Picture to use"
            takes={{ accept: "image/png,image/jpeg,image/webp,image/gif" }}
            kind="quiet"
            icon="upload"
            disabled={isBusy}
            onPick={(files) => run(() => shrink(files))}
          >
            {isBusy ? "Saving…" : "Choose a picture"}
          </FileButton>
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
