// `binnacle envtest kube-apiserver`: serves with the flags that envtest gives to kube-apiserver.
import { connect } from 'node:net'
import { serve } from '../serve/serve.js'
import { stopWithParent } from '../serve/stop-with-starter.js'

/** How long the etcd may take to answer whether it is Binnacle's stand-in. */
const ANSWER_MS = 2_000

export async function serveEnvtest(args: readonly string[]): Promise<void> {
  stopWithParent()
  const dataDir = await dataDirectory(args)
  const storage = dataDir === undefined ? [] : ['--storage=lmdb', '--unsafe-no-fsync', `--data-dir=${dataDir}`]
  const without = dataDir === undefined ? args : args.filter(arg => !arg.startsWith('--etcd-servers'))
  // envtest runs no controllers, and tests rely on that.
  const controllers = `--controllers=${process.env['BINNACLE_CONTROLLERS'] ?? ''}`
  const workloads = isOn(process.env['BINNACLE_SIMULATE_WORKLOADS']) ? ['--simulate-workloads'] : []
  await serve([controllers, ...workloads, ...storage, ...without])
}

const isOn = (value = ''): boolean => !['', '0', 'false'].includes(value)

/** The directory of Binnacle's stand-in for etcd; undefined if --etcd-servers names a real etcd. */
async function dataDirectory(args: readonly string[]): Promise<string | undefined> {
  const servers = args.find(arg => arg.startsWith('--etcd-servers='))?.slice('--etcd-servers='.length)
  const [first = ''] = (servers ?? '').split(',')
  if (!first.startsWith('http://') || !URL.canParse(first)) return undefined
  const answer = await ask(new URL('/binnacle', first))
  return typeof answer?.dataDir === 'string' ? answer.dataDir : undefined
}

/** By a socket, since Node's HTTP client is used nowhere else in a start and takes longer to load than the answer. */
function ask({ hostname, port, pathname }: URL): Promise<{ readonly dataDir?: unknown } | undefined> {
  return new Promise(done => {
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || 80 })
    let text = ''
    socket.setTimeout(ANSWER_MS, () => socket.destroy())
    socket.setEncoding('utf8')
    socket.on('data', (part: string) => {
      text += part
    })
    socket.on('error', () => {})
    // Both stand-ins close the connection after the answer.
    socket.on('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n')
      done(/^HTTP\/1\.\d 200 /.test(head) ? parse(body) : undefined)
    })
    socket.end(`GET ${pathname} HTTP/1.0\r\n\r\n`)
  })
}

/** A real etcd answers with text. */
function parse(text: string): { readonly dataDir?: unknown } | undefined {
  try {
    return JSON.parse(text) as { readonly dataDir?: unknown }
  } catch {
    return undefined
  }
}
