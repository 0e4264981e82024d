// `binnacle balance`: one address for several servers, and a kubeconfig with it and with theirs.
import { type KubeconfigAccess, readAccess } from '../../authoring/kubeconfig-access.js'
import { UsageError } from '../../base/usage-error.js'
import { type Access, type NamedServer, writeKubeconfig } from '../../server/kubeconfig.js'
import { list, optionalText, text } from '../../server/options.js'
import type { Command } from '../command.js'
import { parseFlags, printFlags } from '../flags/flags.js'
import { listenForSignals } from '../serve/signals.js'
import { type Balancer, type Readiness, startBalancer, type Target } from './balancer.js'
import { watchReadiness } from './readiness.js'

const balanceFlags = {
  servers: list('<host:port>', 'the servers; may be repeated'),
  listen: text('<address:port>', 'where connections are accepted; port 0 takes any free port', '127.0.0.1:6444'),
  kubeconfig: optionalText(
    'FILE',
    'by what the servers are verified, and the user who asks whether they are ready; by default that of KUBECONFIG, or ~/.kube/config',
  ),
  'kubeconfig-out': optionalText(
    'FILE',
    'write a kubeconfig with the address of this command as its current context, and a context for each server',
  ),
}

const HELP = `Usage: binnacle balance --servers=<host:port>,<host:port>… [flags]

Forwards connections to servers that share an etcd and are ready, so that clients with one address go on when a server dies.
Every server is asked for /readyz each second. Connections to one that does not answer, or is not ready, are closed, so that clients
open new ones and continue their watches at another. TLS passes through: the certificates of the servers must be
valid for the address that clients use. Those that Binnacle creates are valid for 127.0.0.1 and localhost.

Flags:
${printFlags(balanceFlags)}

Example:
  binnacle balance --servers=replica-1:6443,replica-2:6443,replica-3:6443 --kubeconfig=admin.kubeconfig --kubeconfig-out=all.kubeconfig
  kubectl --kubeconfig=all.kubeconfig get pods --watch
`

export const BALANCE: Command = { run: balance, help: () => HELP }

async function balance(args: readonly string[]): Promise<void> {
  const { values } = parseFlags(args, balanceFlags)
  if (values.servers.length === 0) throw new UsageError('--servers is missing: the servers, such as replica-1:6443')
  const targets = values.servers.map(server => targetOf(server, '--servers'))
  const listen = targetOf(values.listen, '--listen')
  const access = readAccess(values.kubeconfig)
  if (access.url.protocol !== 'https:')
    throw new UsageError(`${access.url.origin}: only servers with https are balanced`)
  const out = values['kubeconfig-out']
  const signals = listenForSignals()
  const balancer = await startBalancer(targets, listen)
  const url = `https://${nameOf(reachable(balancer.address))}`
  if (out !== undefined) {
    await writeKubeconfig(out, accessAt(url, access), targets.map(serverOf))
  }
  const stops = targets.map(target =>
    watchReadiness(target, access, (readiness, reason) => change(balancer, target, readiness, reason)),
  )
  process.stdout.write(`Binnacle is ready at ${url}, for ${targets.map(nameOf).join(', ')}.\n`)
  await signals.first
  for (const stop of stops) stop()
  await balancer.stop()
}

function change(balancer: Balancer, target: Target, readiness: Readiness, reason: string): void {
  balancer.setReadiness(target, readiness)
  console.error(`binnacle: ${nameOf(target)} is ${readiness}${reason && `: ${reason}`}`)
}

/** `host:port`, `[::1]:port` or `https://host:port`. */
function targetOf(given: string, flag: string): Target {
  const match = /^(?:https:\/\/)?(?:\[([0-9a-fA-F:.]+)\]|([^[\]:/\s]+)):([0-9]{1,5})\/?$/.exec(given)
  const port = Number(match?.[3])
  if (!match || port > 65_535) {
    throw new UsageError(`${flag}=${given}: it must be a host and a port, such as replica-1:6443 or [::1]:6443`)
  }
  return { host: match[1] ?? match[2]!, port }
}

const nameOf = ({ host, port }: Target): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

/** All addresses of a machine have one that clients on it reach. */
const reachable = ({ host, port }: Target): Target => ({
  host: host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host,
  port,
})

const serverOf = (target: Target): NamedServer => ({ name: nameOf(target), server: `https://${nameOf(target)}` })

const accessAt = (server: string, { tls: { ca, cert, key, servername }, token }: KubeconfigAccess): Access => ({
  server,
  ca: ca?.toString(),
  client: cert && key && { cert: cert.toString(), key: key.toString() },
  token,
  tlsServerName: servername,
})
