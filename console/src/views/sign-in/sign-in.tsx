import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { messageOf } from '../../api/client.js'
import { signIn } from '../../api/session.js'
import icon from '../../icon.svg'
import { Button } from '../../ui/button.js'
import { Notice } from '../../ui/notice.js'

export const signInError = signal<unknown>(undefined)

export function SignIn() {
  const [token, setToken] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = async (): Promise<void> => {
    setBusy(true)
    signInError.value = undefined
    try {
      await signIn({ token: token.trim() })
    } catch (error) {
      signInError.value = error
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <form
        onSubmit={event => {
          event.preventDefault()
          if (token.trim() !== '' && !isBusy) void submit()
        }}
      >
        <img src={icon} alt="" width={56} height={56} />
        <h1>Binnacle</h1>
        <p>
          Open the link that the server printed when it started, or that <code>binnacle console</code> prints: it signs
          you in once. Or paste a bearer token, of a service account for instance.
        </p>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          value={token}
          onInput={event => setToken(event.currentTarget.value)}
        />
        {signInError.value !== undefined && <Notice tone="error">{messageOf(signInError.value)}</Notice>}
        <Button
          type="submit"
          tone="primary"
          busy={isBusy}
          refused={token.trim() === '' ? 'Paste a token first.' : undefined}
        >
          Sign in
        </Button>
        <p class="hint">
          <code>kubectl create token NAME</code> makes a token for the service account NAME.
        </p>
      </form>
    </main>
  )
}
