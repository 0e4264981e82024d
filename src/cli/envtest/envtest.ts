// `binnacle envtest`: Binnacle in the place of the kube-apiserver and etcd that controller-runtime's envtest starts.

import { join, resolve } from 'node:path'
import { homeDirectory } from '../../base/files/home-directory.js'
import { KUBERNETES_VERSION } from '../../base/kubernetes-version.js'
import { UsageError } from '../../base/usage-error.js'
import type { Command } from '../command.js'
import { installAssets } from './install.js'
import { serveEnvtest } from './kube-apiserver.js'

const HELP = `Usage: binnacle envtest install [FOLDER]

Writes a folder whose kube-apiserver, etcd and kubectl run Binnacle, and prints its path. Go tests that use
controller-runtime's envtest run on Binnacle when KUBEBUILDER_ASSETS names that folder:

  KUBEBUILDER_ASSETS=$(npx binnacle envtest install) go test ./...

FOLDER is ${defaultFolder()} by default. kubectl is the one of your PATH.
With --beside the scripts start the file "binnacle" in FOLDER, the single executable, so that FOLDER can be packed and moved.

As with envtest's own programs, no controllers run. BINNACLE_CONTROLLERS switches them on, by the names of
kube-controller-manager's --controllers:

  BINNACLE_CONTROLLERS='*'                              all of them
  BINNACLE_CONTROLLERS=namespace-controller,garbage-collector-controller

Objects are stored in etcd's data directory and outlive a restart of kube-apiserver. They are not synced to disk.
`

const BESIDE = '--beside'

export const ENVTEST: Command = { run: envtest, help: () => HELP, words: ['install'] }

async function envtest([first = 'install', ...rest]: readonly string[]): Promise<void> {
  switch (first) {
    case 'install': {
      const words = rest.filter(word => word !== BESIDE)
      const [folder = defaultFolder(), ...more] = words
      if (more.length > 0 || folder.startsWith('-')) {
        throw new UsageError('envtest install takes one argument, the folder: binnacle envtest install ./assets')
      }
      await installAssets(resolve(folder), rest.includes(BESIDE))
      console.log(resolve(folder))
      return
    }
    // The installed kube-apiserver calls this.
    case 'kube-apiserver':
      return serveEnvtest(rest)
    // The scripts of the single executable call this. The module runs when it is loaded.
    case 'etcd':
      return void (await import('./etcd.js'))
    // The name of the release for setup-envtest, which takes versions without a suffix.
    case 'release':
      return console.log(JSON.stringify({ release: KUBERNETES_VERSION.split('+')[0] }))
    default:
      throw new UsageError(`there is no command envtest ${first}: did you mean envtest install?`)
  }
}

function defaultFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homeDirectory(), '.cache'), 'binnacle', 'envtest')
}
