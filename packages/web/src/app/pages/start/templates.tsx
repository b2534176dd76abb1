import { useTitle } from "../../../ui/page-title.ts"
import { NotFound } from "../../data/loaded.tsx"
import type { PageProps } from "../../page-props.ts"
import { findTemplate, templates } from "../../templates/catalog.ts"
import { TemplateFace } from "../../templates/template-cards.tsx"
import { TemplateView } from "../../templates/template-view.tsx"

const groups = ["Web", "Data", "Automation"] as const

/** The gallery of templates, or one of them. */
export function Page({ template: key }: PageProps) {
  const template = key === undefined ? undefined : findTemplate(key)
  useTitle(template?.title ?? "Templates")
  if (key !== undefined && !template) return <NotFound />
  return template ? <TemplateView key={template.key} template={template} /> : <Gallery />
}

function Gallery() {
  return (
    <>
      <div class="page-head">
        <h1>Templates</h1>
        <p class="page-lead">Working vals to start from. Each can be tried before you keep it.</p>
      </div>
      {groups.map((group) => (
        <section key={group} class="section" aria-label={group}>
          <h2>{group}</h2>
          <ul class="template-cards">
            {templates
              .filter((template) => template.group === group)
              .map((template) => (
                <li key={template.key}>
                  <a class="template-card" href={`/templates/${template.key}`}>
                    <TemplateFace template={template} summary={template.summary} />
                  </a>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </>
  )
}
