import { SecretList } from "../account/secrets.tsx"
import { api } from "../api.ts"
import { usePages } from "../data/pages.ts"
import { Section } from "../parts/section.tsx"

/** The secrets of one val, which take the place of the account's of the same name. */
export function ValSecrets({ valId }: { valId: string }) {
  return (
    <Section title="Secrets of this val">
      <SecretList
        secrets={usePages("listValSecrets", { val_id: valId })}
        actions={{
          put: (secret) => api.putValSecret({ val_id: valId, ...secret }),
          remove: (name) => api.deleteValSecret({ val_id: valId, name }),
        }}
        intro={
          <>
            Only this val reads them, before the{" "}
            <a href="/account/secrets">secrets of your account</a> of the same name. Forks do not
            get them.
          </>
        }
        empty={<p class="quiet">None.</p>}
      />
    </Section>
  )
}
