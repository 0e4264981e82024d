// `binnacle envtest`: Binnacle in the place of the kube-apiserver and etcd that controller-runtime's envtest starts.
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { UsageError } from '../../base/usage-error.js'
import type { Command } from '../command.js'
import { installAssets } from './install.js'
import { serveEnvtest } from './kube-apiserver.js'

const HELP = `Usage: binnacle envtest install [FOLDER]

Writes a folder whose kube-apiserver, etcd and kubectl run Binnacle, and prints its path. Go tests that use
controller-runtime's envtest run on Binnacle when KUBEBUILDER_ASSETS names that folder:

  KUBEBUILDER_ASSETS=$(npx binnacle envtest install) go test ./...

FOLDER is ${defaultFolder()} by default. kubectl is the one of your PATH.

As with envtest's own programs, no controllers run. BINNACLE_CONTROLLERS switches them on, by the names of
kube-controller-manager's --controllers:

  BINNACLE_CONTROLLERS='*'                              all of them
  BINNACLE_CONTROLLERS=namespace-controller,garbage-collector-controller

Objects are stored in etcd's data directory and outlive a restart of kube-apiserver. They are not synced to disk.
`

export const ENVTEST: Command = { run: envtest, help: () => HELP }

async function envtest([first = 'install', ...rest]: readonly string[]): Promise<void> {
  switch (first) {
    case 'install': {
      const [folder = defaultFolder(), ...more] = rest
      if (more.length > 0 || folder.startsWith('-')) {
        throw new UsageError('envtest install takes one argument, the folder: binnacle envtest install ./assets')
      }
      await installAssets(resolve(folder))
      console.log(resolve(folder))
      return
    }
    // The installed kube-apiserver calls this.
    case 'kube-apiserver':
      return serveEnvtest(rest)
    default:
      throw new UsageError(`there is no command envtest ${first}: did you mean envtest install?`)
  }
}

function defaultFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'binnacle', 'envtest')
}
