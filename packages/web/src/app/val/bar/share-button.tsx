import { useSignal } from "@preact/signals"
import { setTo } from "../../../ui/bind.ts"
import { Dialog } from "../../../ui/dialog.tsx"
import { api } from "../../api.ts"
import { showDone } from "../../frame/toast-list.ts"
import { PrivacyBadge, privacyChoices, withMeaning } from "../../parts/badges.tsx"
import { Clickable } from "../../parts/buttons/button.tsx"
import { CopyText } from "../../parts/buttons/copy-text.tsx"
import { reportFailure } from "../../parts/buttons/use-action.ts"
import { Select } from "../../parts/forms/field.tsx"
import { toHref } from "../to-href.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { toImportLine } from "./to-import-line.ts"

type Props = Pick<ValTabProps, "editing" | "isOwn">

/** Who can open the val, and its addresses to pass on. */
export function ShareButton(props: Props) {
  const isOpen = useSignal(false)
  return (
    <>
      <Clickable looks={["row", "pick", "val-share"]} title="Share" onClick={setTo(isOpen, true)}>
        <PrivacyBadge privacy={props.editing.val.value.privacy} />
        <span class="val-share-word">Share</span>
      </Clickable>
      {isOpen.value ? <ShareDialog {...props} onClose={setTo(isOpen, false)} /> : null}
    </>
  )
}

function ShareDialog(props: Props & { readonly onClose: () => void }) {
  const { editing, isOwn, onClose } = props
  const { name, author, privacy, links } = editing.val.value
  const { endpoint, email } = editing.files.started.value?.saved.value?.links ?? {}
  const embed = `${location.origin}/embed/${author.username}/${name}`
  return (
    <Dialog title={`Share ${name}`} onClose={onClose}>
      <div class="share">
        {isOwn ? <Privacy editing={editing} /> : <p>{toMeaning(privacy)}</p>}
        {endpoint === undefined ? null : <ShareText title="App" text={endpoint} />}
        <ShareText title="Code" text={location.origin + toHref(editing)} />
        {email === undefined ? null : <ShareText title="Mail address" text={email} />}
        <ShareText title="Import" text={toImportLine(name, links.module)} />
        {privacy === "private" ? (
          <p class="quiet">
            Others can open none of these: the val is private. As unlisted, it opens for all who
            have its address.
          </p>
        ) : (
          <ShareText
            title="Code in another page"
            text={`<iframe src="${embed}" title="${name}" width="100%" height="400"></iframe>`}
          />
        )}
      </div>
    </Dialog>
  )
}

/** The privacy of a val, which holds for all its branches and files. */
function Privacy({ editing }: Pick<Props, "editing">) {
  const { id, privacy } = editing.val.value
  const change = async (next: typeof privacy) => {
    await api.updateVal({ val_id: id, privacy: next })
    await editing.refresh()
    showDone(toMeaning(next))
  }
  return (
    <Select
      label="Who can open it"
      value={privacy}
      choices={withMeaning(privacyChoices)}
      onChange={(next) => void reportFailure(() => change(next))}
    />
  )
}

function toMeaning(privacy: string): string {
  const found = privacyChoices.find(({ value }) => value === privacy)
  return found ? `${found.label}: ${found.hint}` : privacy
}

function ShareText({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <section aria-label={title}>
      <h3 class="run-label">{title}</h3>
      <CopyText text={text} label={`Copy: ${title}`} />
    </section>
  )
}
