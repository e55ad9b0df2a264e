// Lines over time. uPlot draws them on a canvas, which screen readers do not see: the newest values are its label.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { useTheme } from './theme';

export interface Series {
  name: string;
  values: (number | null)[];
  /** The name of a colour of the style sheet, such as --series-1. */
  colour: string;
  fill?: boolean;
}
interface ChartProps {
  label: string;
  times: number[]; // milliseconds
  series: Series[];
  format: (value: number) => string;
  height?: number;
  logarithmic?: boolean;
}

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const font = '11px system-ui, sans-serif';

const powersOfTen = (_: uPlot, ticks: number[]) => ticks.map((tick) => (Number.isInteger(Math.round(Math.log10(tick) * 1e6) / 1e6) ? tick : null));

function optionsOf({ series, format, height = 200, logarithmic }: ChartProps, width: number): uPlot.Options {
  const axis = { stroke: css('--muted'), font, grid: { stroke: css('--line'), width: 1 }, ticks: { show: false } };
  return {
    width,
    height,
    padding: [8, 24, 0, 0], // half of a time has room right of the newest sample
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: logarithmic ? { distr: 3 } : { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, size: 28, space: 90, values: [[1, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1]] },
      { ...axis, ...(logarithmic && { filter: powersOfTen, grid: { ...axis.grid, filter: powersOfTen } }), size: 56, values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : format(tick))) },
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.name,
        stroke: css(one.colour),
        width: 1.75,
        points: { show: false },
        fill: one.fill ? `${css(one.colour)}22` : undefined,
      })),
    ],
  };
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>();
  const theme = useTheme();
  const { times, series, format, label } = props;
  const data = [times.map((time) => time / 1000), ...series.map((one) => one.values)] as uPlot.AlignedData;
  const shape = series.map((one) => one.name).join() + theme.shown;

  useEffect(() => {
    const element = box.current!;
    const made = new uPlot(optionsOf(props, element.clientWidth || 300), data, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth || 300, height: props.height ?? 200 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data), [times]);

  const newest = (one: Series) => one.values.at(-1);
  const words = series.map((one) => `${one.name} ${newest(one) == null ? 'unknown' : format(newest(one)!)}`).join(', ');
  return (
    <figure class="chart">
      <ul class="legend" aria-hidden="true">
        {series.map((one) => (
          <li key={one.name}>
            <i style={{ background: `var(${one.colour})` }} />
            {one.name} <b>{newest(one) == null ? '–' : format(newest(one)!)}</b>
          </li>
        ))}
      </ul>
      <div class="plot" ref={box} role="img" aria-label={`${label}: ${words}`} />
    </figure>
  );
}
