// `binnacle serve`: flags to options, start, stop on a signal.
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { startServer } from '../server/server.js'
import type { StorageOptions } from '../storage/open-store.js'

interface ServeFlags {
  readonly storage?: 'lmdb' | 'memory' | 'etcd'
  readonly dataDir: string
  readonly etcdServers?: string[]
  readonly etcdPrefix: string
  readonly etcdCafile?: string
  readonly etcdCertfile?: string
  readonly etcdKeyfile?: string
  readonly httpPort: number
}

export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('serve the API from a data folder, from memory or from etcd')
    .addOption(
      new Option('--storage <kind>', 'where objects are kept (default: lmdb, or etcd with --etcd-servers)').choices([
        'lmdb',
        'memory',
        'etcd',
      ]),
    )
    .option('--data-dir <folder>', 'the folder of the lmdb store', join(homedir(), '.binnacle'))
    .option('--etcd-servers <urls>', 'etcd endpoints, separated by commas', list)
    .option('--etcd-prefix <prefix>', 'what every key in etcd begins with', '/registry')
    .option('--etcd-cafile <file>', 'the certificate authority of the etcd servers')
    .option('--etcd-certfile <file>', 'the client certificate for etcd')
    .option('--etcd-keyfile <file>', 'the key of the client certificate for etcd')
    .option('--http-port <port>', 'serve plain http on this port of 127.0.0.1; 0 takes any free one', port, 8080)
    .action(serve)
}

async function serve(flags: ServeFlags): Promise<void> {
  const storage = storageOptions(flags)
  const server = await startServer({ storage, http: { address: '127.0.0.1', port: flags.httpPort } })
  console.log(`Binnacle is ready at ${server.url}, ${whereabouts(storage)}. Stop it with Ctrl+C.`)
  await new Promise<void>(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await server.stop()
}

function storageOptions(flags: ServeFlags): StorageOptions {
  const kind = flags.storage ?? (flags.etcdServers ? 'etcd' : 'lmdb')
  switch (kind) {
    case 'memory':
      return { kind }
    case 'lmdb':
      return { kind, folder: flags.dataDir }
    case 'etcd':
      return {
        kind,
        endpoints: flags.etcdServers ?? ['http://127.0.0.1:2379'],
        prefix: flags.etcdPrefix,
        ...etcdTls(flags),
      }
  }
}

function etcdTls({ etcdCafile, etcdCertfile, etcdKeyfile }: ServeFlags) {
  if (!etcdCafile && !etcdCertfile && !etcdKeyfile) return {}
  return {
    tls: {
      ...(etcdCafile && { ca: readFileSync(etcdCafile) }),
      ...(etcdCertfile && { cert: readFileSync(etcdCertfile) }),
      ...(etcdKeyfile && { key: readFileSync(etcdKeyfile) }),
    },
  }
}

function whereabouts(storage: StorageOptions): string {
  switch (storage.kind) {
    case 'memory':
      return 'keeping objects in memory only'
    case 'lmdb':
      return `keeping objects in ${storage.folder}`
    case 'etcd':
      return `keeping objects in etcd at ${storage.endpoints.join(', ')}`
  }
}

const list = (text: string): string[] => text.split(',').filter(Boolean)

function port(text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0 || number > 65_535) {
    throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
  }
  return number
}
