// `binnacle console`: a link that signs in to the console of a server as the user of a kubeconfig.
import { connect, LiveError } from '../../authoring/live-server.js'
import { UsageError } from '../../base/usage-error.js'
import { signInLink } from '../../console/sign-in-link.js'
import { stringAt } from '../../meta/values/access.js'
import { optionalText, toggle } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseFlags, printFlags } from '../flags/flags.js'
import { openBrowser } from './open-browser.js'

const consoleFlags = {
  kubeconfig: optionalText('FILE', 'the server and the user; by default those of KUBECONFIG, or ~/.kube/config'),
  open: toggle('open the link in a browser', false),
}

const HELP = `Usage: binnacle console [flags]

Prints a link that signs in to the console of a running server once, within ten minutes, as the user of the kubeconfig.

Flags:
${printFlags(consoleFlags)}
`

export const CONSOLE: Command = { run: openConsole, help: () => HELP }

async function openConsole(args: readonly string[]): Promise<void> {
  const { values } = parseFlags(args, consoleFlags)
  const server = connect(values.kubeconfig)
  const link = signInLink(server.url, await requestCode(server))
  console.log(link)
  if (values.open) openBrowser(link)
}

async function requestCode({ url, send }: ReturnType<typeof connect>): Promise<string> {
  try {
    return stringAt(await send('POST', '/console/api/codes', {}), 'code')
  } catch (error) {
    if (!(error instanceof LiveError) || error.status?.code !== 404) throw error
    throw new UsageError(`${url} has no console: it is no server of Binnacle, or was started with --console=false`)
  }
}
