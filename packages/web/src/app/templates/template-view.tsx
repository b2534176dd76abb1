import type { Output } from "@hamlet/contract/client"
import { type Signal, useSignal } from "@preact/signals"
import { CodeBlock } from "../../ui/code/code-block.tsx"
import { Icon } from "../../ui/icon.tsx"
import { Bars } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { navigate } from "../frame/location.ts"
import { showDone } from "../frame/toast-list.ts"
import { useAction } from "../parts/use-action.ts"
import { session } from "../session/session.ts"
import { createFromTemplate, openFromTemplate } from "./create-from-template.ts"
import { loadSource } from "./load-source.ts"
import type { Template } from "./template.ts"
import { Trial } from "./trial.tsx"

type Val = Output<"createVal">

/** A template: its code, and the real thing beside it once it is tried. */
export function TemplateView({ template }: { template: Template }) {
  const source = useResource(template.key, () => loadSource(template.key))
  const tried = useSignal<Val | undefined>(undefined)
  return (
    <>
      <p class="crumb">
        <a href="/templates">
          <Icon name="back" /> Templates
        </a>
      </p>
      <div class="page-head">
        <h1>{template.title}</h1>
        <div class="page-head-end">
          <Actions template={template} tried={tried} />
        </div>
        <p class="page-lead">{template.summary}</p>
      </div>
      <div class="template-panes">
        <div class="card template-code">
          <Loaded of={source} skeleton={<Bars count={10} />}>
            {({ code }) => <CodeBlock code={code} language="ts" label="Code" />}
          </Loaded>
        </div>
        <div class="card template-trial">
          {tried.value ? (
            <Trial key={tried.value.id} val={tried.value} />
          ) : (
            <p class="template-hint">
              “Try it” creates the val in your account and shows here what it does. Keep it, or
              discard it again.
            </p>
          )}
        </div>
      </div>
    </>
  )
}

function Actions({ template, tried }: { template: Template; tried: Signal<Val | undefined> }) {
  const { isBusy, run } = useAction()
  const val = tried.value
  if (session.value.kind === "signed-out")
    return (
      <a class="button" href="/sign-in">
        Sign in to use it
      </a>
    )
  if (!val)
    return (
      <>
        <button
          type="button"
          class="button button-quiet"
          disabled={isBusy}
          onClick={() => void run(() => openFromTemplate(template))}
        >
          <Icon name="edit" /> Open in the editor
        </button>
        <button
          type="button"
          class="button"
          disabled={isBusy}
          onClick={() =>
            void run(async () => {
              tried.value = await createFromTemplate(template)
            })
          }
        >
          <Icon name="play" /> {isBusy ? "Creating…" : "Try it"}
        </button>
      </>
    )
  const discard = async () => {
    await api.deleteVal({ val_id: val.id })
    tried.value = undefined
    showDone(`Deleted ${val.name}`)
  }
  return (
    <>
      <button
        type="button"
        class="button button-quiet"
        disabled={isBusy}
        onClick={() => void run(discard)}
      >
        <Icon name="trash" /> Discard
      </button>
      <button type="button" class="button" onClick={() => void navigate(new URL(val.url).pathname)}>
        <Icon name="check" /> Keep {val.name}
      </button>
    </>
  )
}
