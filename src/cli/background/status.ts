// `binnacle status`: whether the server of a data directory is ready. The exit code says it too, for health checks.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { connect, type LiveServer } from '../../authoring/live-server.js'
import { stringAt } from '../../meta/values/access.js'
import { optionalText } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseFlags, printFlags } from '../flags/flags.js'
import { findBackgroundServer } from './background-server.js'
import { dataDirFlags } from './data-dir.js'

const statusFlags = {
  ...dataDirFlags,
  kubeconfig: { ...optionalText('<file>', 'the kubeconfig of the server'), byDefault: '<data-dir>/kubeconfig' },
}

const HELP = `Usage: binnacle status [flags]

Says whether the server of a data folder is ready, and where it is. The exit code is 0 if it is ready, else 1.

Flags:
${printFlags(statusFlags)}
`

export const STATUS: Command = { run: status, help: () => HELP }

async function status(args: readonly string[]): Promise<void> {
  const { values } = parseFlags(args, statusFlags)
  const dataDir = values['data-dir']
  const kubeconfig = values.kubeconfig ?? join(dataDir, 'kubeconfig')
  if (!existsSync(kubeconfig)) return notReady(`No server has been started for ${dataDir}.`)
  const server = connect(kubeconfig)
  let version: string
  try {
    version = await readyVersion(server)
  } catch (error) {
    return notReady(`Not ready: ${(error as Error).message}`)
  }
  const process = findBackgroundServer(dataDir)
  console.log(`Ready at ${server.url}, Kubernetes ${version}${process ? `, process ${process.pid}` : ''}.`)
}

async function readyVersion(server: LiveServer): Promise<string> {
  await server.get('/readyz')
  return stringAt((await server.get('/version')) ?? {}, 'gitVersion')
}

function notReady(reason: string): void {
  console.log(reason)
  process.exitCode = 1
}
