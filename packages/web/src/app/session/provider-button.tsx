import { useAction } from "../parts/use-action.ts"
import { settings } from "../settings.ts"
import { visitProvider } from "./provider.ts"

/** Signs in with the provider of this server, if it has one. */
export function ProviderButton(props: {
  /** The path to continue with. */
  readonly to: string
  readonly invitation?: string | undefined
}) {
  const { to, invitation } = props
  const { providerName } = settings
  const { isBusy, run } = useAction()
  if (providerName === null) return null
  return (
    <div class="sign-in-provider">
      <button
        type="button"
        class="button"
        disabled={isBusy}
        onClick={() => void run(() => visitProvider({ purpose: "sign-in", to, invitation }))}
      >
        {invitation === undefined ? "Sign in" : "Accept"} with {providerName}
      </button>
      <p class="quiet">or</p>
    </div>
  )
}
