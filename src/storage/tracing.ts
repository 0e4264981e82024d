export { createTracedStore } from './tracing/traced-store.js'
