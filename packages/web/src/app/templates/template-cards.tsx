import { useSignal } from "@preact/signals"
import { Icon } from "../../ui/icon.tsx"
import type { Template } from "./template.ts"

/** Templates that become vals with one click. */
export function TemplateCards({ templates }: { templates: readonly Template[] }) {
  const busyKey = useSignal<string | undefined>(undefined)
  const create = async (template: Template) => {
    busyKey.value = template.key
    const { openFromTemplate } = await import("./create-from-template.ts")
    await openFromTemplate(template)
    busyKey.value = undefined
  }
  return (
    <ul class="template-cards">
      {templates.map((template) => (
        <li key={template.key}>
          <button
            type="button"
            class="template-card"
            disabled={busyKey.value !== undefined}
            onClick={() => void create(template)}
          >
            <TemplateFace
              template={template}
              summary={busyKey.value === template.key ? "Creating…" : template.summary}
            />
          </button>
        </li>
      ))}
    </ul>
  )
}

/** What a card says about a template. */
export function TemplateFace(props: { readonly template: Template; readonly summary: string }) {
  const { icon, title, files } = props.template
  return (
    <>
      <span class="row template-title">
        <Icon name={icon} />
        {title}
        {files ? <span class="template-files">{files} files</span> : null}
      </span>
      <span class="template-summary">{props.summary}</span>
    </>
  )
}
