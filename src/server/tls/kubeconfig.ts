// The kubeconfig of the administrator: the address of the server, its authority, and credentials.
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CodecError } from '../../codec/codec-error.js'
import { decodeYaml, encodeYaml } from '../../codec/yaml.js'
import { isObject, type Value, type ValueObject } from '../../meta/values/value.js'

export interface Access {
  readonly server: string
  /** PEM; absent for plain http. */
  readonly ca?: string | undefined
  readonly client?: { readonly cert: string; readonly key: string } | undefined
  readonly token?: string | undefined
  /** The name in the certificate of the server, if it is not the host of its address. */
  readonly tlsServerName?: string | undefined
}

/** A server with the same authority and users, which gets a context of this name. */
export interface NamedServer {
  readonly name: string
  readonly server: string
}

const NAME = 'binnacle'

export function kubeconfigOf(access: Access, others: readonly NamedServer[] = []): ValueObject {
  const { ca, client, token, tlsServerName } = access
  const servers = [{ name: NAME, server: access.server }, ...others]
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: servers.map(({ name, server }) => ({
      name,
      cluster: {
        server,
        ...(ca && { 'certificate-authority-data': base64(ca) }),
        ...(tlsServerName && { 'tls-server-name': tlsServerName }),
      },
    })),
    contexts: servers.map(({ name }) => ({ name, context: { cluster: name, user: NAME } })),
    'current-context': NAME,
    users: [
      {
        name: NAME,
        user: {
          ...(client && { 'client-certificate-data': base64(client.cert), 'client-key-data': base64(client.key) }),
          ...(token && { token }),
        },
      },
    ],
  }
}

export const printKubeconfig = (access: Access): string => encodeYaml(kubeconfigOf(access))

/** Writes a file that contains nothing else. A symbolic link of that name is replaced, and not what it points to. */
export async function writeKubeconfig(path: string, access: Access, others?: readonly NamedServer[]): Promise<void> {
  await replaceFile(path, encodeYaml(kubeconfigOf(access, others)))
}

/** Adds the server to a kubeconfig that may contain others, and makes it the current context. */
export async function mergeKubeconfig(path: string, access: Access): Promise<void> {
  const ours = kubeconfigOf(access)
  const theirs = await readConfig(path)
  const merged: ValueObject = { ...theirs, ...ours }
  for (const list of ['clusters', 'contexts', 'users'] as const) {
    const others = entries(theirs[list]).filter(entry => entry['name'] !== NAME)
    merged[list] = [...others, ...entries(ours[list])]
  }
  await replaceFile(await targetOf(path), encodeYaml(merged))
}

/** Takes the server out of a kubeconfig that `mergeKubeconfig` has changed; not if the entry names another address by now. */
export async function removeFromKubeconfig(path: string, server: string): Promise<void> {
  const config = await readConfig(path)
  const ours = entries(config['clusters']).find(({ name }) => name === NAME)?.['cluster']
  if (!isObject(ours) || ours['server'] !== server) return
  const rest: ValueObject = { ...config }
  for (const list of ['clusters', 'contexts', 'users'] as const) {
    rest[list] = entries(config[list]).filter(({ name }) => name !== NAME)
  }
  if (rest['current-context'] === NAME) delete rest['current-context']
  await replaceFile(await targetOf(path), encodeYaml(rest))
}

const entries = (list: Value | undefined): ValueObject[] => (Array.isArray(list) ? list.filter(isObject) : [])

/** The file exists and is not a kubeconfig, so it is not overwritten. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError'
  readonly code = 'kubeconfig'
}

/** An empty object when the file is missing or empty. */
async function readConfig(path: string): Promise<ValueObject> {
  let value: Value
  try {
    value = decodeYaml(await readFile(path)).value
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    if (!(error instanceof CodecError)) throw error
    throw new KubeconfigError(`${path} is left as it is, because it is not a kubeconfig: ${error.message}`)
  }
  if (value === null) return {}
  if (isObject(value)) return value
  throw new KubeconfigError(`${path} is left as it is, because it is not a kubeconfig`)
}

/** Users link to a kubeconfig of theirs: what others are in is the target, which stays in its place. */
const targetOf = (path: string): Promise<string> => realpath(path).catch(() => path)

/** By a rename, so that a reader never sees half of the file. Only the owner may read it, because it contains a key. */
async function replaceFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  // Where others may write, a predictable name could be a link that they have put there.
  const fresh = `${file}.${randomUUID()}`
  try {
    await writeFile(fresh, text, { mode: 0o600, flag: 'wx' })
    await rename(fresh, file)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
