// `binnacle envtest kube-apiserver`: serves with the flags that envtest gives to kube-apiserver.
import { get } from 'node:http'
import { serve } from '../serve/serve.js'

/** How long the etcd may take to answer whether it is Binnacle's stand-in. */
const ANSWER_MS = 2_000

export async function serveEnvtest(args: readonly string[]): Promise<void> {
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

function ask(url: URL): Promise<{ readonly dataDir?: unknown } | undefined> {
  return new Promise(done => {
    const request = get(url, { timeout: ANSWER_MS, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
      })
      response.on('error', () => done(undefined))
      response.on('end', () => done(response.statusCode === 200 ? parse(text) : undefined))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => done(undefined))
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
