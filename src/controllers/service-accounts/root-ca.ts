// Publishes the certificate authority of this server as the ConfigMap `kube-root-ca.crt` of every namespace, where the
// token volumes of pods expect it.
import { createHash } from 'node:crypto'
import { encodeJson } from '../../codec/json.js'
import type { Kind } from '../../kinds/kind.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { equalValues } from '../../meta/values/value.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startInEachNamespace } from './in-each-namespace.js'

const NAME = 'kube-root-ca.crt'
const DESCRIPTION = 'kubernetes.io/description'
const TEXT =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

export interface RootCaKinds {
  readonly namespaces: Kind
  readonly configMaps: Kind
}

/** `ca` is in PEM form. */
export function startRootCaPublisher(
  context: ApiContext,
  { namespaces, configMaps }: RootCaKinds,
  ca: string,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'root-ca-cert-publisher')
  const data = { 'ca.crt': ca }
  const isPublished = (object: ApiObject): boolean =>
    equalValues(object['data'], data) && Boolean(metaOf(object).annotations?.[DESCRIPTION])
  // By namespace: the content that was replaced last.
  const replaced = new Map<string, string>()
  return startInEachNamespace(context, {
    queue: 'root_ca_cert_publisher',
    objects,
    namespaces,
    kind: configMaps,
    name: NAME,
    async ensure(namespace) {
      // A create that fails because the object exists would count in quotas.
      const found = await objects.get(configMaps, namespace, NAME)
      if (found === undefined) {
        const metadata = { name: NAME, namespace, annotations: { [DESCRIPTION]: TEXT } }
        return objects.create(configMaps, { metadata, data: { ...data } })
      }
      if (isPublished(found)) return
      // A kube-controller-manager beside this server may publish another authority. It stays, because each of the two
      // would replace what the other one has written for ever.
      const content = digestOf(found)
      if (replaced.get(namespace) === content) return
      if (replaced.size >= MAX_REPLACED) replaced.clear()
      replaced.set(namespace, content)
      await objects.change(configMaps, namespace, NAME, old => {
        if (isPublished(old)) return undefined
        const described = { ...old.metadata, annotations: { ...metaOf(old).annotations, [DESCRIPTION]: TEXT } }
        return { ...old, metadata: described, data: { ...data } }
      })
    },
    env,
  })
}

const MAX_REPLACED = 10_000

const digestOf = (object: ApiObject): string =>
  createHash('sha256')
    .update(encodeJson(object['data'] ?? null))
    .digest('hex')
