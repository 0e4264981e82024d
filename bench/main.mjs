// `npm run bench -- <subject>`: measures side by side in one run and prints ratios.
const SUBJECTS = {
  api: () => import('./api.mjs'),
  admission: () => import('./admission.mjs'),
  apply: () => import('./apply.mjs'),
  cel: () => import('./cel.mjs'),
  chart: () => import('./chart.mjs'),
  compare: () => import('./compare.mjs'),
  crd: () => import('./crd.mjs'),
  envtest: () => import('./envtest.mjs'),
  growth: () => import('./growth.mjs'),
  memory: () => import('./memory.mjs'),
  quick: () => import('./quick.mjs'),
  storage: () => import('./storage.mjs'),
  testing: () => import('./testing.mjs'),
}

const subject = process.argv[2]
if (!Object.hasOwn(SUBJECTS, subject ?? '')) {
  console.error(`usage: npm run bench -- <subject>\nsubjects: ${Object.keys(SUBJECTS).join(', ')}`)
  process.exit(2)
}
const { run } = await SUBJECTS[subject]()
await run(process.argv.slice(3))
