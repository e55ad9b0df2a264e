// What `braid demo` says of its own doings; nothing on a server that is no demo.
import { useData } from './data';

export interface Demo {
  status: Record<string, Record<string, number> & { public_key?: string }>;
  events: { at_ms: number; load: string; text: string }[];
}

export const useDemo = () => useData<Demo>('/v1/demo', 2000).data;
