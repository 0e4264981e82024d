// Starts the console: who is signed in, then the app.
import { render } from 'preact'
import './styles/fonts.css'
import './styles/theme.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/components.css'
import { onWarning } from './api/client.js'
import { readSession, signIn, takeCode } from './api/session.js'
import { App } from './app.js'
import { startRouter } from './router.js'
import { startKeys } from './state/commands.js'
import { startTheme } from './state/theme.js'
import { toast } from './state/toasts.js'
import { signInError } from './views/sign-in/sign-in.js'

startTheme()
startRouter()
startKeys()
onWarning.value = text => toast('warning', text)
render(<App />, document.querySelector('#app')!)

const code = takeCode()
if (code === undefined) void readSession()
else {
  signIn({ code }).catch(async (error: unknown) => {
    // The link may have been used before, by this browser: then there is a session.
    await readSession()
    signInError.value = error
  })
}
