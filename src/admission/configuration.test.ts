import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPluginConfigurations } from './configuration.js'

let folder: string
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'binnacle-admission-'))))
afterAll(() => rmSync(folder, { recursive: true }))

const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n'
const WEBHOOKS = 'apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration'
const QUOTA = 'apiVersion: apiserver.config.k8s.io/v1, kind: ResourceQuotaConfiguration'
const SECURITY = 'apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration'
const plugin = (name: string, configuration: string): string =>
  `${HEAD}plugins: [{name: ${name}, configuration: {${configuration}}}]`

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const read = (text: string, isOn: (name: string) => boolean = () => true) =>
  readPluginConfigurations(write('config.yaml', text), isOn, [])

describe('kube-apiserver refuses, with the same words,', () => {
  test.each([
    ['a: [b', "failed to read plugin config: yaml: line 1: did not find expected ',' or ']'"],
    ['', "failed to read plugin config: Object 'Kind' is missing in ''"],
    [
      'kind: AdmissionConfiguration\nplugins: []',
      "failed to read plugin config: Object 'apiVersion' is missing in 'kind: AdmissionConfiguration\nplugins: []'",
    ],
    [
      'apiVersion: v1\nkind: ConfigMap',
      'failed to read plugin config: no kind "ConfigMap" is registered for version "v1" in scheme "k8s.io/apiserver/pkg/server/options/admission.go:51"',
    ],
    [`${HEAD}plugin: []`, 'failed to read plugin config: strict decoding error: unknown field "plugin"'],
    [
      `${HEAD}plugins: []\nplugins: []`,
      'failed to read plugin config: strict decoding error: yaml: unmarshal errors:\n  line 4: key "plugins" already set in map',
    ],
    [
      `${HEAD}plugins: {a: b}`,
      'failed to read plugin config: json: cannot unmarshal object into Go struct field AdmissionConfiguration.plugins of type []v1.AdmissionPluginConfiguration',
    ],
    [
      `${HEAD}plugins: [{name: ResourceQuota, config: {}}]`,
      'failed to read plugin config: strict decoding error: unknown field "plugins[0].config"',
    ],
    [
      `${HEAD}plugins: [{name: ResourceQuota, configuration: "a: b"}]`,
      String.raw`couldn't init admission plugin "ResourceQuota": couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`,
    ],
    [
      plugin('ValidatingAdmissionWebhook', 'kubeConfigFile: /tmp/x'),
      `couldn't init admission plugin "ValidatingAdmissionWebhook": Object 'Kind' is missing in '{"kubeConfigFile":"/tmp/x"}'`,
    ],
    [
      plugin('ValidatingAdmissionWebhook', `${WEBHOOKS}, kubeConfigFile: x`),
      `couldn't init admission plugin "ValidatingAdmissionWebhook": kubeConfigFile: Invalid value: "x": must be an absolute file path`,
    ],
    [
      plugin('MutatingAdmissionWebhook', `${WEBHOOKS}, kubeConfigFile: /nonexistent`),
      `couldn't init admission plugin "MutatingAdmissionWebhook": stat /nonexistent: no such file or directory`,
    ],
    [
      plugin('MutatingAdmissionWebhook', `${WEBHOOKS}, staticManifestsDir: /tmp`),
      `couldn't init admission plugin "MutatingAdmissionWebhook": staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled`,
    ],
    [
      plugin('ValidatingAdmissionPolicy', 'a: b'),
      `couldn't init admission plugin "ValidatingAdmissionPolicy": Object 'Kind' is missing in '{"a":"b"}'`,
    ],
    [
      plugin('ResourceQuota', `${QUOTA}, limitedResources: [{resource: pods, matchContain: [a]}]`),
      `couldn't init admission plugin "ResourceQuota": strict decoding error: unknown field "limitedResources[0].matchContain"`,
    ],
    [
      plugin('ResourceQuota', `${QUOTA}, limitedResources: [{matchContains: [a]}]`),
      `couldn't init admission plugin "ResourceQuota": limitedResources[0].resource: Required value`,
    ],
    [
      plugin('ResourceQuota', `${QUOTA}, limitedResources: x`),
      `couldn't init admission plugin "ResourceQuota": json: cannot unmarshal string into Go struct field Configuration.limitedResources of type []v1.LimitedResource`,
    ],
    [
      plugin('PodSecurity', `${SECURITY}, defaults: {enforce: nix, enforce-version: v2, audit: x, warn-version: "1"}`),
      `failed to initialize admission plugin "PodSecurity": PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, enforce-version: must be "latest" or "v1.x", audit: must be one of privileged, baseline, restricted, warn-version: must be "latest" or "v1.x"]`,
    ],
    [
      plugin('PodSecurity', `${SECURITY}, exemptions: {usernames: [""], namespaces: [x, x]}`),
      `failed to initialize admission plugin "PodSecurity": PodSecurity configuration error: [exemptions.namespaces[1]: Duplicate value: "x", exemptions.usernames[0]: Invalid value: "": username must not be empty]`,
    ],
  ])('%j', (text, message) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ message }))
  })

  test('a file that cannot be read', () => {
    expect(() => readPluginConfigurations('/nonexistent', () => true, [])).toThrow(
      'failed to read plugin config: unable to read admission control configuration from "/nonexistent" [open /nonexistent: no such file or directory]',
    )
  })
})

test('documents of plugins that are off or unknown are not read', () => {
  const text = `${HEAD}plugins: [{name: Odd, configuration: {}}, {name: ResourceQuota, path: nonexistent}]`
  expect(read(text, () => false).limitedResources).toEqual([])
  expect(() => read(text)).toThrow(`couldn't open admission plugin configuration: open ${join(folder, 'nonexistent')}`)
})

test('a plugin that this server does not have is not configured silently', () => {
  const path = write('images.yaml', `${HEAD}plugins: [{name: ImagePolicyWebhook, path: images.yaml}]`)
  expect(() => readPluginConfigurations(path, () => false, ['ImagePolicyWebhook'])).toThrow(/does not have it/)
})

test('a document may be in a file of its own, beside the configuration', () => {
  write('quota.yaml', `{${QUOTA}, limitedResources: [{resource: pods, matchContains: [cpu]}]}`)
  const { limitedResources } = read(`${HEAD}plugins: [{name: ResourceQuota, path: quota.yaml}]`)
  expect(limitedResources).toEqual([{ group: '', resource: 'pods', matchContains: ['cpu'], matchScopes: [] }])
})

test('webhooks are called as the user that is named like their host', async () => {
  const user = (name: string, rest = ''): string => `{name: "${name}", user: {token: "${name}"${rest}}}`
  write('token', 'from-file\n')
  write('cert', 'certificate')
  const kubeconfig = write(
    'kubeconfig',
    `users: [${user('a.b.svc')}, ${user('*.b.svc')}, ${user('c.b.svc:8443')}, ${user('example.com:9')}, ${user('current')},
       {name: files.com, user: {tokenFile: token, client-certificate: cert, client-key-data: a2V5, as: x, as-groups: [g, h]}},
       {name: basic.com, user: {username: u, password: p}}, {name: old.com, user: {auth-provider: {name: x}}}]
contexts: [{name: x, context: {user: current}}]
current-context: x`,
  )
  const text = plugin('ValidatingAdmissionWebhook', `${WEBHOOKS}, kubeConfigFile: ${kubeconfig}`)
  const { validatingWebhooks: find, mutatingWebhooks } = read(text)
  const tokenFor = async (target: string) => (await find(target))?.headers['authorization']
  expect(await tokenFor('a.b.svc:443')).toBe('Bearer a.b.svc')
  expect(await tokenFor('x.b.svc:443')).toBe('Bearer *.b.svc')
  expect(await tokenFor('c.b.svc:8443')).toBe('Bearer c.b.svc:8443')
  expect(await tokenFor('x.b.svc:8443')).toBe('Bearer current')
  expect(await tokenFor('example.com:443')).toBe('Bearer current')
  expect(await tokenFor('basic.com:443')).toBe('Basic dTpw')
  expect(await find('files.com:443')).toEqual({
    headers: { authorization: 'Bearer from-file', 'Impersonate-User': 'x', 'Impersonate-Group': ['g', 'h'] },
    cert: Buffer.from('certificate'),
    key: Buffer.from('key'),
  })
  await expect(find('old.com:443')).rejects.toThrow('auth provider not supported')
  expect(await mutatingWebhooks('a.b.svc:443')).toBeUndefined()
})
